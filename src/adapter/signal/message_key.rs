//! External ids of messages: `m{author}:{timestamp}`, and `m:{timestamp}` for our own.
//!
//! On Signal a message is identified by its author and the time at which it was sent.

/// A parsed message id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageKey<'a> {
    /// Author; `None` if it is our own.
    pub(super) author: Option<&'a str>,
    /// Time of sending in milliseconds.
    pub(super) timestamp: u64,
}

/// Parses a message id.
pub(super) fn parse(name: &str) -> Option<MessageKey<'_>> {
    let (author, timestamp) = name.strip_prefix('m')?.rsplit_once(':')?;
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let timestamp = timestamp.parse().ok().filter(|_| is_number)?;
    Some(MessageKey { author: (!author.is_empty()).then_some(author), timestamp })
}

/// Returns the id of a message of ours.
pub(super) fn own_key(timestamp: u64) -> String {
    format!("m:{timestamp}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(parse(&own_key(17)), Some(MessageKey { author: None, timestamp: 17 }));
        assert_eq!(parse("mPNI:u-1:17"), Some(MessageKey { author: Some("PNI:u-1"), timestamp: 17 }));
        assert_eq!(parse("m+431:17"), Some(MessageKey { author: Some("+431"), timestamp: 17 }));
        for odd in ["", "m", "m17", "m:", "m:x", "m:+7", "eu:1:2", "ru:1", "m:99999999999999999999999"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
