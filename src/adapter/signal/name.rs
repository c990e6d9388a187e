//! How a message is called between the daemon and the journal: `m{author}:{timestamp}`, and `m:{timestamp}` if it is ours.
//!
//! On Signal a message is known by its author and the time at which it was sent, so both stand in its name.

/// A message, taken out of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// Who wrote it; nobody if we did.
    pub(super) author: Option<&'a str>,
    /// When, in milliseconds; with the author its identity.
    pub(super) timestamp: u64,
}

/// The message of that name, if it is one.
pub(super) fn read(name: &str) -> Option<Named<'_>> {
    let (author, timestamp) = name.strip_prefix('m')?.rsplit_once(':')?;
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let timestamp = timestamp.parse().ok().filter(|_| is_number)?;
    Some(Named { author: (!author.is_empty()).then_some(author), timestamp })
}

/// The name of a message that we sent.
pub(super) fn ours(timestamp: u64) -> String {
    format!("m:{timestamp}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(read(&ours(17)), Some(Named { author: None, timestamp: 17 }));
        assert_eq!(read("mPNI:u-1:17"), Some(Named { author: Some("PNI:u-1"), timestamp: 17 }));
        assert_eq!(read("m+431:17"), Some(Named { author: Some("+431"), timestamp: 17 }));
        for odd in ["", "m", "m17", "m:", "m:x", "m:+7", "eu:1:2", "ru:1", "m:99999999999999999999999"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
