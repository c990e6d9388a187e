//! Why a file of the workspace is not searched as it should be, as `doctor` says it.

/// Bytes that are no text stand where text is expected.
pub const NOT_TEXT: &str = "it is not UTF-8 text, so it is not searched";
/// It is too long.
pub const TOO_LARGE: &str = "it is larger than one megabyte, so it is not searched";
/// It lies in one person's folder and was written for another.
pub const FOREIGN: &str = "it was written for somebody else, so it is neither loaded nor searched";
/// The lines on top that say what it is never end.
pub const ENDLESS_FRONT_MATTER: &str =
    "it begins with --- and no second --- ends its front matter, so all of it is taken for text";
/// The disk does not give it.
pub const UNREADABLE: &str = "it cannot be read";
