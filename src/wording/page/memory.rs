//! Sentences about the memory on the page.

/// An empty memory.
pub const NOTHING_YET: &str = "Nothing is kept yet. Write \u{201c}remember that \u{2026}\u{201d} to your assistant, and it \
    stands here.";
/// Refusal: the file changed while it was edited.
pub const CHANGED_MEANWHILE: &str = "Nothing was saved: the note was changed after you opened it. Your text is below, as \
    you typed it; put in what you want to keep of the other, and save again.";
/// Refusal: the file was deleted while it was edited.
pub const GONE_MEANWHILE: &str = "Nothing was saved: the note was deleted after you opened it. Your text is below, as you \
    typed it; saving again makes a new note of it.";
/// Refusal: the section changed while it was edited.
pub const SECTION_CHANGED: &str = "Nothing was saved: the section was changed after you opened it. Your text is below, \
    as you typed it; put in what you want to keep of the other, and save again.";
/// Refusal: no section of the note has that heading any more.
pub const SECTION_GONE: &str = "Nothing was saved: the note was changed after you opened it, and no single section begins \
    as yours. Your text is below, as you typed it; copy it into the whole note.";
/// Heading of the difference between both sections.
pub const SECTION_DIFFERENCE: &str = "From the section as it is now to your text";
/// Heading of the present section.
pub const SECTION_AS_IT_IS: &str = "The section as it is now";
/// Remark above the form for a new note.
pub const ABOUT_NEW_NOTES: &str = "A note is one file about one subject. Its first line is what the list shows.";
/// Refusal: a note without text.
pub const NOTE_WITHOUT_TEXT: &str = "Nothing was saved: a note needs some text.";
/// Refusal: a note has that name.
pub const NAME_IS_TAKEN: &str = "Nothing was saved: there is a note of that name already. Your text is below, as you typed \
    it; choose another name, or put it into that note:";
/// Remark about what agents and profiles have learned.
pub const ABOUT_PROFILES: &str = "What is on comes to mind by itself; what is off stays stored, and a search finds it.";
/// Limits of what the assistant takes down by itself.
pub fn limits_in_force(tokens: u64, turns: u32) -> String {
    let turns = if turns == 1 { "turn".to_owned() } else { format!("{turns} turns") };
    format!(
        "Your assistant takes notes after every {turns} and at the end of a conversation. A prompt holds up to {tokens} \
            tokens of its memory, and as many of shared memory. Both are set in compline.toml, [memory]."
    )
}

/// Heading of the difference between both texts.
pub const DIFFERENCE: &str = "From the note as it is now to your text";
/// Heading of the present text.
pub const AS_IT_IS: &str = "The note as it is now";
/// Remark in front of the field.
pub const YOUR_HAND: &str = "What you write here counts as written by you, as in an editor. The version before stays in \
    the list of versions.";
/// Remark: a part of the text cannot pass through a field.
pub const NOT_FOR_A_FIELD: &str = "It holds characters that a field of a browser would change, so it can be edited only \
    with `compline memory edit`.";
/// Remark about a note with text from outside.
pub const WAITS_FOR_YOU: &str = "It is not loaded by itself. Reading it through and making it yours changes that.";
/// Remark about restoring.
pub const NOTHING_IS_LOST: &str = "Nothing is lost: the text that is there now stays in the list of versions.";
/// Remark about forgetting.
pub const FORGET_FIRST_SHOWS: &str = "You are first shown what would be deleted.";
/// Remark: the content of a version is no longer kept.
pub const VERSION_WITHOUT_TEXT: &str = "The text of this version is no longer kept.";
/// Remark: a version that deleted the file.
pub const VERSION_DELETED: &str = "The note was deleted with this version.";
