//! The commands by which a person parts with something: forgetting, and taking their own away with
//! them.

use super::super::forget::Messages;

/// What a person parts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parting {
    /// Forgets a note or a fact.
    Forget {
        /// Which, if it was named; or the number of a forgetting that is to go on.
        name: Option<String>,
        /// Whether messages go too.
        messages: Messages,
    },
    /// Sends everything that is kept of the caller.
    Export,
}

impl Parting {
    /// Whether messages are to go as well.
    pub fn takes_messages(&self) -> bool {
        matches!(self, Self::Forget { messages: Messages::Go, .. })
    }
}

/// The word behind which messages go too.
const MESSAGES: &str = "messages";

/// The command of that name with what follows it; `None` if it is none of these.
pub(super) fn parse(name: &str, rest: &str) -> Option<Parting> {
    match name {
        "forget" => Some(forget(rest)),
        "export" => Some(Parting::Export),
        _ => None,
    }
}

fn forget(rest: &str) -> Parting {
    let (name, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
    let (name, messages) = match last.eq_ignore_ascii_case(MESSAGES) && !name.trim().is_empty() {
        true => (name.trim(), Messages::Go),
        false => (rest, Messages::Stay),
    };
    Parting::Forget { name: Some(name.to_owned()).filter(|name| !name.is_empty()), messages }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_asks_for_messages_too() {
        let forget = |name: &str, messages| Some(Parting::Forget { name: Some(name.to_owned()), messages });
        assert_eq!(parse("forget", "garden gate"), forget("garden gate", Messages::Stay));
        assert_eq!(parse("forget", "garden gate  Messages"), forget("garden gate", Messages::Go));
        assert_eq!(parse("forget", "7 messages"), forget("7", Messages::Go));
        assert_eq!(parse("forget", "messages"), forget("messages", Messages::Stay));
        assert_eq!(parse("forget", ""), Some(Parting::Forget { name: None, messages: Messages::Stay }));
        assert_eq!((parse("export", "x"), parse("x", "")), (Some(Parting::Export), None));
    }
}
