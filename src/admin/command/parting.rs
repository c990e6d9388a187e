//! Commands for deleting data and for exporting it.

use super::super::forget::Messages;

/// A command that deletes or exports data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataCommand {
    /// Deletes a note or a fact.
    Forget {
        /// The note or fact, if named, or the number of a deletion to continue.
        name: Option<String>,
        /// Handling of the messages.
        messages: Messages,
    },
    /// Exports all data of the caller.
    Export,
}

impl DataCommand {
    /// Returns whether messages are deleted too.
    pub fn takes_messages(&self) -> bool {
        matches!(self, Self::Forget { messages: Messages::Go, .. })
    }
}

/// The last word that includes messages.
const MESSAGES: &str = "messages";

/// Parses a command; `None` if the name belongs to another group.
pub(super) fn parse(name: &str, rest: &str) -> Option<DataCommand> {
    match name {
        "forget" => Some(forget(rest)),
        "export" => Some(DataCommand::Export),
        _ => None,
    }
}

fn forget(rest: &str) -> DataCommand {
    let (name, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
    let (name, messages) = match last.eq_ignore_ascii_case(MESSAGES) && !name.trim().is_empty() {
        true => (name.trim(), Messages::Go),
        false => (rest, Messages::Stay),
    };
    DataCommand::Forget { name: Some(name.to_owned()).filter(|name| !name.is_empty()), messages }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_asks_for_messages_too() {
        let forget = |name: &str, messages| Some(DataCommand::Forget { name: Some(name.to_owned()), messages });
        assert_eq!(parse("forget", "garden gate"), forget("garden gate", Messages::Stay));
        assert_eq!(parse("forget", "garden gate  Messages"), forget("garden gate", Messages::Go));
        assert_eq!(parse("forget", "7 messages"), forget("7", Messages::Go));
        assert_eq!(parse("forget", "messages"), forget("messages", Messages::Stay));
        assert_eq!(parse("forget", ""), Some(DataCommand::Forget { name: None, messages: Messages::Stay }));
        assert_eq!((parse("export", "x"), parse("x", "")), (Some(DataCommand::Export), None));
    }
}
