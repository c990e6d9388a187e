//! Reasons why a workspace file is not searched properly, as `doctor` reports them.

/// Reason: not UTF-8.
pub const NOT_TEXT: &str = "it is not UTF-8 text, so it is not searched";
/// Reason: too large.
pub const TOO_LARGE: &str = "it is larger than one megabyte, so it is not searched";
/// Reason: written for another person than the folder's owner.
pub const FOREIGN: &str = "it was written for another person, so it is neither loaded nor searched";
/// Reason: unterminated front matter.
pub const ENDLESS_FRONT_MATTER: &str =
    "it begins with --- and no second --- ends its front matter, so all of it is taken for text";
/// Reason: read error.
pub const UNREADABLE: &str = "it cannot be read";
