//! Command menu: known people see the commands of their role, strangers none.

use teloxide_core::payloads::{DeleteMyCommands, DeleteMyCommandsSetters, SetMyCommands, SetMyCommandsSetters};
use teloxide_core::types::{BotCommand, BotCommandScope, ChatId, Recipient};

use super::bot_api::{BotApi, CallError};
use super::send::SendTarget;
use crate::adapter::MenuEntry;
use crate::people::Role;

/// Registers the menus. Best effort: a failure is logged once.
pub(super) async fn register(wire: &BotApi, commands: &[MenuEntry], peers: &[(String, Role)]) {
    let for_all = DeleteMyCommands::new().scope(BotCommandScope::Default);
    let mut failed = wire.request::<_, bool>(&for_all).await.err();
    for (peer, role) in peers {
        // A rate limit or an outage would affect the next request too.
        if failed.as_ref().is_some_and(|failure| !is_about_one_chat(failure)) {
            break;
        }
        let Ok(target) = SendTarget::of(peer) else { continue };
        failed = wire.request::<_, bool>(&for_chat(target.chat, *role, commands)).await.err().or(failed);
    }
    if let Some(failure) = failed {
        let reason = failure.reason();
        tracing::warn!(%reason, "The Telegram command menu could not be set for everybody");
    }
}

fn for_chat(chat: ChatId, role: Role, commands: &[MenuEntry]) -> SetMyCommands {
    let allowed = commands.iter().filter(|entry| entry.role <= role);
    let entries = allowed.map(|entry| BotCommand::new(&entry.name, &entry.description));
    SetMyCommands::new(entries).scope(BotCommandScope::Chat { chat_id: Recipient::Id(chat) })
}

/// Returns true if the chat does not exist, or its person has not written yet.
fn is_about_one_chat(failure: &CallError) -> bool {
    matches!(failure, CallError::Rejected(refusal) if matches!(refusal.code, 400 | 403))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_holds_what_the_role_may_use() {
        let entry = |name: &str, role| MenuEntry { name: name.to_owned(), description: "x".to_owned(), role };
        let commands = [entry("help", Role::Member), entry("people", Role::Owner)];
        let names = |role| {
            let menu = for_chat(ChatId(7), role, &commands);
            menu.commands.into_iter().map(|command| command.command).collect::<Vec<_>>()
        };
        assert_eq!(names(Role::Owner), ["help", "people"]);
        assert_eq!(names(Role::Member), ["help"]);
        assert!(names(Role::Guest).is_empty());
    }
}
