//! `/memory edit` in a conversation: the external editor has the screen, and no frame that arrives
//! meanwhile is lost.

use super::RunCommand;
use super::link::GatewayLink;
use crate::adapter::terminal::protocol::FromGateway;
use crate::cli::external_editor;
use crate::wording::chat as words;

/// The editing person, and access to the location of their files.
pub(super) struct ByHand<'a> {
    /// Name of the person who is talking.
    pub whose: String,
    pub errand: &'a RunCommand,
}

impl ByHand<'_> {
    /// Opens the note in an editor and waits until it is closed. Returns the result as text, and
    /// the frames that arrived meanwhile; the last one is `None` if the gateway went away.
    pub async fn edit(&self, note: &str, link: &mut GatewayLink) -> (String, Vec<Option<FromGateway>>) {
        let editing = self.editing(note);
        tokio::pin!(editing);
        let mut heard: Vec<Option<FromGateway>> = Vec::new();
        loop {
            let gone = heard.last().is_some_and(Option::is_none);
            tokio::select! {
                said = &mut editing => return (said.unwrap_or_else(|why| why), heard),
                frame = link.next_frame(), if !gone => heard.push(frame),
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

/// Returns the note that a line asks to edit; blank for `MEMORY.md`.
pub(super) fn note_in(line: &str) -> Option<&str> {
    let rest = of(line, "/memory")?;
    of(rest, "edit")
}

/// Returns the text after `word`, if the line begins with it.
fn of<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    first.eq_ignore_ascii_case(word).then(|| rest.trim())
}
