//! Joins the page to its channel: neither knows the other.

use std::sync::Arc;

use async_trait::async_trait;

use crate::adapter::web::{ACCOUNT, OpenPage, WebChat, WebMessage, external_id};
use crate::message::{ArrivedFile, ChannelKind, ChatEvent};
use crate::people::{Address, Person};
use crate::store::{Db, Journal};
use crate::time::Clock;
use crate::web::chat::{ChatChannel, ChatEvents, ChatMessage, IdUse};

/// The channel, as the page sees it.
pub(super) struct PageChat {
    pub(super) channel: Arc<WebChat>,
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
}

/// Address of a person on the page.
pub(super) fn address_of(person: &Person) -> Address {
    Address::new(ChannelKind::Web.name(), ACCOUNT, &format!("person-{}", person.id))
}

#[async_trait]
impl ChatChannel for PageChat {
    async fn say(&self, person: &Person, message: ChatMessage) -> anyhow::Result<Result<(), String>> {
        let (address, id, now) = (address_of(person), person.id, self.clock.now());
        let peer = address.peer.clone();
        let link = move |tx: crate::store::Tx<'_>| match tx.addresses().who_is(&address)? {
            Some(_) => Ok(()),
            None => tx.addresses().link(&address, Some(id), now).map(|_| ()),
        };
        self.journal.write("link a page", link).await?;
        let ChatMessage { id, text, pasted, files, button } = message;
        Ok(self.channel.say(&WebMessage { id, peer, text, pasted, files, button }).await)
    }

    async fn find(&self, person: &Person, message: &ChatMessage) -> anyhow::Result<IdUse> {
        let id = external_id(&address_of(person).peer, &message.id);
        let read = move |db: Db<'_>| db.inbox().received(ChannelKind::Web.name(), ACCOUNT, &id);
        let Some(raw) = self.journal.read(read).await? else { return Ok(IdUse::Free) };
        let is_same = serde_json::from_str(&raw).map_or(true, |stored| is_same(&stored, message));
        Ok(if is_same { IdUse::Stored } else { IdUse::Taken })
    }

    fn open(&self, person: &Person) -> Option<Box<dyn ChatEvents>> {
        Some(Box::new(self.channel.open(&address_of(person).peer)?))
    }
}

/// Compares what was sent. A message that is sent again may have lost its files.
fn is_same(stored: &WebMessage, sent: &ChatMessage) -> bool {
    let files = |files: &[ArrivedFile]| -> Vec<(String, u64)> {
        files.iter().map(|file| (file.name.clone(), file.size)).collect()
    };
    (&stored.text, &stored.pasted, &stored.button) == (&sent.text, &sent.pasted, &sent.button)
        && (sent.files.is_empty() || files(&stored.files) == files(&sent.files))
}

#[async_trait]
impl ChatEvents for OpenPage {
    async fn next(&mut self) -> Option<ChatEvent> {
        OpenPage::next(self).await
    }
}
