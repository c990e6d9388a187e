//! `/memory edit` in a conversation: the person's own editor has the screen, and nothing that comes
//! meanwhile is lost.

use super::Errand;
use super::link::GatewayLink;
use crate::adapter::terminal::protocol::FromGateway;
use crate::cli::external_editor;
use crate::wording::chat as words;

/// Who edits, and who knows where their files lie.
pub(super) struct ByHand<'a> {
    /// The name of the person who speaks.
    pub whose: String,
    pub errand: &'a Errand,
}

impl ByHand<'_> {
    /// Opens the note in an editor until that is closed. What there is to say then, and what the
    /// gateway said meanwhile; the last of it is `None` if it went away.
    pub async fn edit(&self, note: &str, link: &mut GatewayLink) -> (String, Vec<Option<FromGateway>>) {
        let editing = self.editing(note);
        tokio::pin!(editing);
        let mut heard: Vec<Option<FromGateway>> = Vec::new();
        loop {
            let gone = heard.last().is_some_and(Option::is_none);
            tokio::select! {
                said = &mut editing => return (said.unwrap_or_else(|why| why), heard),
                frame = link.hear(), if !gone => heard.push(frame),
            }
        }
    }

    async fn editing(&self, note: &str) -> Result<String, String> {
        let gone = || words::GONE.to_owned();
        let placed = (self.errand)(external_editor::place_line(&self.whose, note), true).await.ok_or_else(gone)?;
        let open = external_editor::placed(&placed)?;
        external_editor::edit(&open).await?;
        let edited = (self.errand)(external_editor::edited_line(&self.whose, &open), false).await.ok_or_else(gone)?;
        Ok(edited.text)
    }
}

/// The note that a line wants to edit; blank for `MEMORY.md`.
pub(super) fn note_in(line: &str) -> Option<&str> {
    let rest = of(line, "/memory")?;
    of(rest, "edit")
}

/// What follows that word, if the text begins with it.
fn of<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    first.eq_ignore_ascii_case(word).then(|| rest.trim())
}
