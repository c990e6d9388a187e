//! Command menus: each person has the commands of their role, described in their language. And what
//! a channel tells of us before the first message.

use std::collections::BTreeMap;

use crate::adapter::{Adapter, MenuEntry};
use crate::admin::command::COMMANDS;
use crate::people::Role;
use crate::store::{Db, Journal};
use crate::wording::Language;
use crate::wording::gateway::bot_description as bot;

/// Registers the text shown before the first message, in every language.
pub async fn describe(journal: &Journal, adapter: &dyn Adapter) -> anyhow::Result<()> {
    let home = journal.read(|db| db.people().home_language()).await?;
    let others = Language::all().filter(|language| *language != home);
    let texts: Vec<_> = [home].into_iter().chain(others).map(|language| (language.code(), bot(language))).collect();
    adapter.register_description(&texts).await;
    Ok(())
}

/// Registers the menus of everyone who has an address on that channel.
pub async fn register(journal: &Journal, adapter: &dyn Adapter) -> anyhow::Result<()> {
    let (name, account) = (adapter.name(), adapter.account());
    let read = move |db: Db<'_>| {
        let mut peers = BTreeMap::from([(Language::ENGLISH.code(), Vec::<(String, Role)>::new())]);
        for person in db.people().people()? {
            let known = db.addresses().addresses_of(person.id)?.into_iter().map(|known| known.address);
            let here = known.filter(|address| address.adapter == name && address.account == account);
            let language = db.people().language_of(person.id)?.code();
            peers.entry(language).or_default().extend(here.map(|address| (address.peer, person.role)));
        }
        Ok(peers)
    };
    for (language, peers) in journal.read(read).await? {
        let Some(language) = Language::named(language) else { continue };
        let entries: Vec<MenuEntry> = COMMANDS
            .iter()
            .filter_map(|row| row.menu.map(|role| (row, role)))
            .map(|(row, role)| MenuEntry { name: row.name.to_owned(), description: row.menu_line(language), role })
            .collect();
        adapter.register_menu(&entries, &peers).await;
    }
    Ok(())
}
