//! Notes that a writer would replace without having seen them.

use super::note;
use super::notes::NoteDraft;
use super::workspace::Notes;
use super::write::ChangeOrigin;

impl Notes<'_> {
    /// Returns the path of the note that a draft would replace, unless the draft holds all of it, or its line in
    /// the index shows all of it.
    pub async fn unseen_by_title(&self, origin: &ChangeOrigin, draft: &NoteDraft) -> anyhow::Result<Option<String>> {
        if !origin.label.is_trusted() {
            return Ok(None);
        }
        for slug in [note::slug(&draft.title), note::other_slug(&draft.title)] {
            let path = format!("memory/{slug}.md");
            let Some(file) = self.files().readable(&origin.who, &path).await? else { continue };
            let old = note::read(&file.text);
            if note::is_same_title(&old.name, &draft.title) {
                let is_kept = draft.content.contains(old.body.trim()) || old.is_shown_whole();
                return Ok((!is_kept).then_some(path));
            }
        }
        Ok(None)
    }
}
