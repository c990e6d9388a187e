//! Sentences about the page, and on it.

pub mod memory; // notes
pub mod search; // search
pub mod people; // people and one's own account
pub mod skills; // skills and proposals
pub mod status; // state, models and tools, reflections

use std::time::Duration;

use super::language::{Language, say};
use super::span;

/// Refusal: no gateway serves the page.
pub const NOT_SERVED: &str = "The page is served while `compline run` runs, unless `[web] enabled` is false.";

/// A link that signs a browser in.
pub fn link(language: Language, name: &str, link: &str) -> String {
    say!(language, "web-link", name = name, link = link)
}

/// The same on the command line.
pub fn link_on_command_line(name: &str, link: &str) -> String {
    format!("{link}\n\nOpen it to sign a browser in as {name}. It works once, for two minutes.")
}

/// The way to the page from another computer.
pub fn from_elsewhere(port: u16) -> String {
    format!("From another computer: `ssh -L {port}:127.0.0.1:{port} USER@HOST`, and open it there.")
}

/// Refusal: a telephone cannot open an address of this computer.
pub const QR_NEEDS_PUBLIC_URL: &str = "A telephone cannot open the page: set `[web] public_url`, the address of a TLS \
    proxy (`docs/web.md` has recipes).";

/// Refusal: the page has no address that a telephone could open.
pub fn only_on_the_computer(language: Language) -> String {
    say!(language, "web-only-on-the-computer")
}

/// Result of ending sessions.
pub fn ended(count: usize) -> String {
    match count {
        0 => "No browser was signed in. Open links are void.".to_owned(),
        1 => "One browser is signed out. Open links are void.".to_owned(),
        count => format!("{count} browsers are signed out. Open links are void."),
    }
}

/// The page cannot be served because its address cannot be used.
pub fn cannot_listen(address: &str, error: &str) -> String {
    format!("The page is not served: cannot listen at {address} ({error}). Set another `[web] listen`.")
}

/// Refusal of a request under an unknown name.
pub fn wrong_host(host: &str) -> String {
    format!("This page is not known as \"{host}\". If it should be: [web] public_url = \"https://{host}\"")
}

/// Title above the answer of a command.
pub const DONE: &str = "Done";
/// Title above a question about a command.
pub const NOT_DONE_YET: &str = "Not done yet";
/// Title above the refusal of a command.
pub const NOT_DONE: &str = "Not done";
/// Refusal of a request that another page made.
pub const OTHER_SITE: &str = "Another page sent this request, so nothing was done.";
/// Refusal of a request without a session.
pub const SIGNED_OUT: &str = "You are signed out, so nothing was done. Sign in in another tab, and load this page again: \
    your browser then sends the same once more.";
/// Refusal of an owner's page.
pub const OWNER_ONLY: &str = "Only an owner can see this.";
/// A sign-in code that is unknown, used or expired.
pub const CODE_REFUSED: &str = "This code is mistyped, used up or too old. `compline web` makes a new link.";
/// A page that could not be made.
pub const FAILED: &str = "This did not work; the log says more.";
/// A text that perhaps could not be saved.
pub const SAVE_FAILED: &str = "This did not work; the log says more. Your text is below, as you typed it, so that you can \
    save it again.";
/// An address that leads nowhere.
pub const NOT_FOUND: &str = "There is no such page.";
/// A page that was given up after that time.
pub fn too_slow(limit: Duration) -> String {
    format!("This took longer than {}, so it was given up. Ask for less at a time.", span(limit))
}

/// Part of an address that is longer than that many characters.
pub fn too_long_to_ask(most: usize) -> String {
    format!("The address asks for too much: each part of it may have {most} characters. Nothing was done.")
}

/// Link to a page that another site wants to open with something to look for.
pub const OPEN_FROM_ELSEWHERE: &str = "Another site wants to open this page with something of its own in the address. \
    Open it only if you followed a link that you trust.";
/// Title of that link.
pub const OPEN_ANYWAY: &str = "Open it";

/// A form that is longer than the page takes.
pub const TOO_LONG: &str = "This is longer than the page takes, so nothing was done.";
/// A form that does not fit the page.
pub const BAD_FORM: &str = "This form is not complete. Go back, load the page again, and repeat it.";

/// A list of conversations without any.
pub const NO_CONVERSATIONS: &str = "There are none yet. Write to your assistant, and the conversation stands here.";
/// A day without conversations of a kind.
pub const NONE_ON_THAT_DAY: &str = "None of this kind began on that day.";
/// Remark below the way to go on with a conversation.
pub const HOW_TO_GO_ON: &str = "It opens the chat with a message that names this conversation. Your assistant reads it \
    there when you have sent that.";

/// Beginning of a message that goes on with a conversation.
pub fn go_on_with(conversation: u32) -> String {
    format!("Read conversation {conversation} again, and let us go on with it: ")
}

/// Days without any use of a model.
pub const NO_USAGE: &str = "No model was used in these days. Write to your assistant, and the cost stands here.";
/// Purposes that a picture does not tell apart.
pub const OTHER_PURPOSES: &str = "other";
/// Remark above the conversations that cost most, for those who see all.
pub const ONLY_OWN_TITLES: &str = "Of others you see the person and the cost only.";

/// Share of the input that came from caches.
pub fn cached(percent: u64) -> String {
    format!("{percent} % of the input came from the cache of a provider.")
}

/// Budget of a day.
pub fn daily_budget(money: &str, tokens: &str) -> String {
    format!("The budget of a day is {money}, and {tokens} tokens of models without a price.")
}

/// Remaining budget of today.
pub fn left_today(money: &str, tokens: &str) -> String {
    format!("Left today: {money}, and {tokens} tokens of models without a price.")
}

/// Heading of the memory that an answer was given without a search.
pub const CAME_TO_MIND: &str = "Came to mind from the memory:";

/// Cost of models without a price.
pub const NO_PRICE: &str = "no price";

/// Cost of models with and without a price.
pub fn partly_priced(money: &str) -> String {
    format!("{money}, in part without a price")
}

/// Remark below the picture of cost.
pub fn not_drawn(tokens: &str) -> String {
    format!("{tokens} tokens of models without a price are not in the picture.")
}

/// Remark: what is shown goes no further back.
pub fn only_newest(messages: u32) -> String {
    format!("Only the newest {messages} messages are looked at here; older ones are not counted.")
}

/// Files that the assistant changed.
pub fn files_changed(count: u32) -> String {
    match count {
        1 => "Your assistant changed one file.".to_owned(),
        count => format!("Your assistant changed {count} files."),
    }
}

/// Scheduled items that did not happen.
pub fn scheduled_missed(count: usize, is_more: bool) -> String {
    match (count, is_more) {
        (count, true) => format!("More than {count} scheduled items were missed."),
        (1, false) => "One scheduled item was missed.".to_owned(),
        (count, false) => format!("{count} scheduled items were missed."),
    }
}

/// Remark: more was missed than is listed.
pub fn only_newest_missed(count: u32) -> String {
    format!("Only the newest {count} are listed.")
}

/// A week without anything planned.
pub const NOTHING_PLANNED: &str = "Nothing is planned for the next seven days. Say \u{201c}remind me tomorrow at nine to \
    \u{2026}\u{201d}.";
/// Coming times that are in the picture only.
pub fn more_in_picture(count: usize) -> String {
    format!("{count} more are in the picture above.")
}
/// An empty list of reminders.
pub const NO_REMINDERS: &str = "No reminder and no task waits. To set one, ask your assistant in your own words.";

/// A folder without files.
pub const NO_FILES: &str = "There are no files here. What you send to your assistant lands in the inbox.";
/// Size of a folder without files.
pub const EMPTY_FOLDER: &str = "empty";
/// Number of folders.
pub fn folders(count: usize) -> String {
    if count == 1 { "1 folder".to_owned() } else { format!("{count} folders") }
}

/// Link to folders that are not shown.
pub fn more_folders(count: usize) -> String {
    format!("{count} more")
}

/// A path without a file or folder of the visitor.
pub const NO_SUCH_FILE: &str = "There is no such file or folder.";
/// A deleted file whose versions are kept.
pub const DELETED_FILE: &str = "This file was deleted. Open one of its versions to restore it.";
/// An empty list of deleted files.
pub const NO_DELETED_FILES: &str = "No deleted file can be restored. Texts that your assistant wrote or changed can; what \
    was forgotten cannot.";
/// Remark below versions: there are others.
pub const VERSIONS_WITHOUT_TEXT: &str = "There are other versions, whose texts are not kept.";
/// A file that is neither a text nor a picture.
pub const NOT_A_TEXT: &str = "This file is neither a text nor a picture, so it can only be downloaded.";

/// A text that is too large to be shown.
pub const TEXT_TOO_LARGE: &str = "Texts of more than 1 MB are not shown here, so it can only be downloaded.";

/// Remark below lines of a text that are not shown whole.
pub const CUT_LINES: &str = "A line that ends in \u{2026} is cut here; the download holds all of it.";

/// A picture that is too large to be shown.
pub fn picture_too_large(most_mb: u64) -> String {
    format!("Pictures of more than {most_mb} MB are not shown here, so it can only be downloaded.")
}

/// Effect of an upload, and the limit.
pub fn about_uploads(most_mib: u64) -> String {
    format!("It goes into your inbox, counts as coming from outside, and may be up to {most_mib} MB.")
}

/// An uploaded file that is too large.
pub fn upload_too_large(most_mib: u64) -> String {
    format!("A file may be up to {most_mib} MB, and this one is larger, so it was not stored.")
}

/// A form without a whole file.
pub const NO_UPLOAD: &str = "A file did not arrive whole, so it was not stored. Choose one, and send it again.";
/// Too many uploads at once.
pub const TOO_MANY_UPLOADS: &str = "Other files are still arriving. Send it again when they are done.";

/// A message with too many files.
pub fn too_many_files(most: usize) -> String {
    format!("A message takes up to {most} files, so this one was not sent.")
}

/// Too many open chats.
pub const TOO_MANY_PAGES: &str = "The chat is open too often: close it in other tabs or browsers.";
/// A message whose files the browser lost.
pub const FILES_LOST: &str = "The files were lost when the page was loaded again. Choose them again.";
/// A sent file that can no longer be had.
pub const SENT_FILE_GONE: &str = "This file was changed or deleted since it was sent.";

/// A version with the present content.
pub const SAME_VERSION: &str = "The file is the same as this version.";
/// No file needs a look.
pub const FILES_ARE_FINE: &str = "All files that are read automatically are readable, listed, and within their limits.";

/// More problems than are listed.
pub const MORE_PROBLEMS: &str = "There may be more: fix these, and look again.";

/// A file above its size limit.
pub const FILE_OVERFULL: &str =
    "it is over its size limit, so nothing is added to it. Move what is old into notes, or forget it.";
/// A file that is not text.
pub const FILE_UNREADABLE: &str =
    "it cannot be read as text, so it is not used. Restore an earlier version, or save it as UTF-8.";
/// A note without a line in the index.
pub const FILE_UNLISTED: &str = "it has no line in MEMORY.md, so it is found by search only.";
/// Refusal: no line was added for a note.
pub const NO_LINE_ADDED: &str = "No line was added: the note has one by now, or MEMORY.md cannot take one.";
/// All usual folders exist.
pub const FOLDERS_EXIST: &str = "The folders of your memory and your inbox are there.";

/// Usual folders that do not exist.
pub fn folders_missing(names: &[&str]) -> String {
    format!("Not there yet, and made when something comes: {}.", names.join(", "))
}
