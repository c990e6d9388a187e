//! Texts of the messages that were sent or edited last.
//!
//! The last preview of a streamed answer often is the whole answer already, and Telegram counts an
//! edit that changes nothing like any other. A text counts as shown only after Telegram confirmed
//! it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::adapter::{OutgoingPart, PartFormat};
use crate::time::task::lock;

/// Maximum number of messages remembered; the oldest is dropped.
const MAX_MESSAGES: usize = 32;

/// Confirmed texts by external id, oldest first.
#[derive(Debug, Default)]
pub(super) struct ShownTexts(Mutex<VecDeque<ShownText>>);

#[derive(Debug, PartialEq, Eq)]
struct ShownText {
    external_id: String,
    text: String,
    form: PartFormat,
    buttons: Vec<(String, String)>,
}

impl ShownText {
    fn of(external_id: &str, piece: &OutgoingPart, form: PartFormat) -> Self {
        Self {
            external_id: external_id.to_owned(),
            text: piece.text(form).to_owned(),
            form,
            buttons: piece.buttons.clone(),
        }
    }
}

impl ShownTexts {
    /// Returns true if the message shows exactly that.
    pub fn is_shown(&self, external_id: &str, piece: &OutgoingPart, form: PartFormat) -> bool {
        let wanted = ShownText::of(external_id, piece, form);
        self.lock().iter().any(|shown| *shown == wanted)
    }

    /// Records what a message shows now.
    pub fn record(&self, external_id: &str, piece: &OutgoingPart, form: PartFormat) {
        self.forget(external_id);
        let mut shown = self.lock();
        if shown.len() >= MAX_MESSAGES {
            shown.pop_front();
        }
        shown.push_back(ShownText::of(external_id, piece, form));
    }

    /// Drops a message whose text is no longer known.
    pub fn forget(&self, external_id: &str) {
        self.lock().retain(|shown| shown.external_id != external_id);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ShownText>> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> OutgoingPart {
        OutgoingPart { rich: text.to_owned(), plain: text.to_owned(), ..OutgoingPart::default() }
    }

    #[test]
    fn only_the_same_text_in_the_same_form_with_the_same_buttons_is_shown() {
        let shown = ShownTexts::default();
        shown.record("m1:2", &part("one"), PartFormat::Rich);
        assert!(shown.is_shown("m1:2", &part("one"), PartFormat::Rich));
        assert!(!shown.is_shown("m1:2", &part("one"), PartFormat::Plain));
        assert!(!shown.is_shown("m1:3", &part("one"), PartFormat::Rich));
        let with_button = OutgoingPart { buttons: vec![("Yes".to_owned(), "/yes 1".to_owned())], ..part("one") };
        assert!(!shown.is_shown("m1:2", &with_button, PartFormat::Rich));
        shown.record("m1:2", &part("two"), PartFormat::Rich);
        assert!(!shown.is_shown("m1:2", &part("one"), PartFormat::Rich));
        shown.forget("m1:2");
        assert!(!shown.is_shown("m1:2", &part("two"), PartFormat::Rich));
    }

    #[test]
    fn the_newest_messages_are_remembered() {
        let shown = ShownTexts::default();
        for id in 0..=MAX_MESSAGES {
            shown.record(&id.to_string(), &part("one"), PartFormat::Rich);
        }
        assert!(!shown.is_shown("0", &part("one"), PartFormat::Rich));
        assert!(shown.is_shown("1", &part("one"), PartFormat::Rich));
        assert_eq!(shown.lock().len(), MAX_MESSAGES);
    }
}
