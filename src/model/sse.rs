//! Parses server-sent events from raw bytes into complete `data` payloads, regardless of how the
//! network split them.
//!
//! Pieces may end anywhere, within a character too; lines may end in LF, CRLF or CR. A line or an
//! event longer than [`MAX_EVENT`] is an error, so that a server cannot exhaust memory. Bytes that
//! are not UTF-8 become replacement characters instead of ending an otherwise complete answer.

/// Maximum length of an event, in bytes.
pub(super) const MAX_EVENT: usize = 1 << 20;

/// Error: an event exceeds [`MAX_EVENT`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLongEvent;

/// Parser state between two pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
    after_cr: bool,
}

impl Events {
    /// Takes the next piece and returns the events it completes.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<Vec<String>, TooLongEvent> {
        let mut events = Vec::new();
        for byte in piece {
            let second_half_of_crlf = self.after_cr && *byte == b'\n';
            self.after_cr = *byte == b'\r';
            if second_half_of_crlf {
                continue;
            }
            if matches!(byte, b'\n' | b'\r') {
                events.extend(self.end_line());
            } else {
                self.line.push(*byte);
            }
            if self.line.len() + self.data.len() > MAX_EVENT {
                return Err(TooLongEvent);
            }
        }
        Ok(events)
    }

    /// Returns the event that the end of the stream completes, if any: some servers omit the last
    /// empty line.
    pub(super) fn finish(&mut self) -> Option<String> {
        let complete = self.end_line();
        complete.or_else(|| self.dispatch())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(&line);
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
        None
    }

    fn dispatch(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data);
        if data.is_empty() { None } else { Some(data) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut found: Vec<String> = pieces.iter().flat_map(|piece| events.take(piece).unwrap()).collect();
        found.extend(events.finish());
        found
    }

    #[test]
    fn a_table_of_streams() {
        assert_eq!(all(&[b"data: a\n\ndata:b\n\n"]), ["a", "b"]);
        assert_eq!(all(&[b": ping\r\n\r\ndata: a\r", b"\n\r\n"]), ["a"]);
        assert_eq!(all(&[b"event: x\rdata: a\rdata: b\r\rid: 1\r"]), ["a\nb"]);
        assert_eq!(all(&[b"data: without an end"]), ["without an end"]);
        assert_eq!(all(&[b"data: \xff\n\n"]), ["\u{fffd}"]);
        assert_eq!(all(&[b"\n\n\n"]), Vec::<String>::new());
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut events = Events::default();
        let piece = vec![b'a'; MAX_EVENT];
        assert_eq!(events.take(&piece), Ok(vec![]));
        assert_eq!(events.take(b"a"), Err(TooLongEvent));
    }

    proptest! {
        #[test]
        fn the_cuts_do_not_matter(
            texts in prop::collection::vec("[a-zä€🌍]{1,9}", 1..5), cuts in prop::collection::vec(0_usize..60, 0..6),
            end in prop::sample::select(vec!["\n", "\r\n", "\r"])
        ) {
            let whole: String = texts.iter().map(|text| format!("data: {text}{end}{end}")).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([whole.len()]) {
                pieces.push(&whole.as_bytes()[from..cut]);
                from = cut;
            }
            prop_assert_eq!(all(&pieces), texts);
        }

        #[test]
        fn any_bytes_are_survived(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut events = Events::default();
            for piece in &pieces {
                prop_assert!(events.take(piece).is_ok());
            }
            events.finish();
        }
    }
}
