//! Reader of server-sent events, regardless of how the network splits the bytes. Pure.
//!
//! Pieces may end anywhere, within a character too; lines may end in LF, CRLF or CR. Of the
//! format's fields only `event` and `data` are read; comments are passed on, since servers send
//! them as keep-alives. Data is bytes: one caller refuses what is not UTF-8, another repairs it. A
//! line and an event together are bounded, so that a server cannot exhaust memory.

use std::collections::VecDeque;

/// A part of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseItem {
    /// A complete event that has data.
    Event {
        /// Type; blank if the server gives none.
        kind: Vec<u8>,
        /// The lines of its data, joined with line feeds.
        data: Vec<u8>,
    },
    /// A comment.
    Comment,
}

/// Error: an event exceeds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLong;

/// Reader state between two pieces.
#[derive(Debug)]
pub struct SseReader {
    limit: usize,
    line: Vec<u8>,
    kind: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
    items: VecDeque<SseItem>,
}

impl SseReader {
    /// Creates a reader of events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), kind: Vec::new(), data: None, after_cr: false, items: VecDeque::new() }
    }

    /// Takes the next piece of the stream.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), EventTooLong> {
        for line in piece.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let second_half_of_crlf = std::mem::take(&mut self.after_cr) && line == b"\n";
            self.after_cr = line.ends_with(b"\r");
            if second_half_of_crlf {
                continue;
            }
            let text = line.strip_suffix(b"\n").or(line.strip_suffix(b"\r"));
            self.line.extend_from_slice(text.unwrap_or(line));
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > self.limit {
                return Err(EventTooLong);
            }
            if text.is_some() {
                self.end_line();
            }
        }
        Ok(())
    }

    /// Returns the next item of what was read so far.
    pub fn next_item(&mut self) -> Option<SseItem> {
        self.items.pop_front()
    }

    /// Takes the end of the stream as the end of an event: some servers omit the last empty line.
    pub fn finish(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_line();
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"" if line.is_empty() => {
                let kind = std::mem::take(&mut self.kind);
                self.items.extend(self.data.take().map(|data| SseItem::Event { kind, data }));
            }
            b"" => self.items.push_back(SseItem::Comment),
            b"event" => self.kind = value.to_owned(),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 1 << 20;

    fn all(pieces: &[&[u8]]) -> Vec<SseItem> {
        let mut reader = SseReader::new(LIMIT);
        pieces.iter().for_each(|piece| reader.feed(piece).unwrap());
        reader.finish();
        std::iter::from_fn(|| reader.next_item()).collect()
    }

    fn event(kind: &str, data: &str) -> SseItem {
        SseItem::Event { kind: kind.into(), data: data.into() }
    }

    #[test]
    fn a_table_of_streams() {
        assert_eq!(all(&[b"data: a\n\ndata:b\n\n"]), [event("", "a"), event("", "b")]);
        assert_eq!(all(&[b": ping\r\n\r\ndata: a\r", b"\n\r\n"]), [SseItem::Comment, event("", "a")]);
        assert_eq!(all(&[b"event: x\rdata: a\rdata: b\r\rid: 1\r"]), [event("x", "a\nb")]);
        assert_eq!(all(&[b"data: without an end"]), [event("", "without an end")]);
        let garbled = SseItem::Event { kind: Vec::new(), data: vec![0xff] };
        assert_eq!(all(&[b"data: \xff\n\n"]), [garbled]);
        assert_eq!(all(&[b"\n\n\n"]), []);
        assert_eq!(
            all(&[b"data:\n\n:\nretry: 1\n\nevent:x\n\ndata:y\n\n"]),
            [event("", ""), SseItem::Comment, event("", "y")]
        );
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut reader = SseReader::new(LIMIT);
        assert_eq!(reader.feed(&vec![b'a'; LIMIT]), Ok(()));
        assert_eq!(reader.feed(b"a"), Err(EventTooLong));
    }

    #[test]
    fn an_event_without_end_is_an_error() {
        let mut reader = SseReader::new(LIMIT);
        let line = [b"data:".as_slice(), &vec![b'x'; LIMIT / 2], b"\n"].concat();
        assert_eq!(reader.feed(&line), Ok(()));
        assert_eq!(reader.feed(&line), Err(EventTooLong));
    }

    proptest! {
        #[test]
        fn the_cuts_do_not_matter(
            texts in prop::collection::vec("[a-zä€🌍]{0,9}", 1..5), cuts in prop::collection::vec(0_usize..90, 0..6),
            end in prop::sample::select(vec!["\n", "\r\n", "\r"])
        ) {
            let whole: String = texts.iter().map(|text| format!(": alive{end}event:x{end}data: {text}{end}{end}")).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([whole.len()]) {
                pieces.push(&whole.as_bytes()[from..cut]);
                from = cut;
            }
            let expected: Vec<_> = texts.iter().flat_map(|text| [SseItem::Comment, event("x", text)]).collect();
            prop_assert_eq!(all(&pieces), expected);
        }

        #[test]
        fn any_bytes_are_survived(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            all(&pieces);
        }
    }

    #[test]
    fn fuzzed() {
        let read = |pieces: &mut dyn Iterator<Item = &[u8]>| {
            let mut reader = SseReader::new(LIMIT);
            for piece in pieces {
                reader.feed(piece)?;
            }
            reader.finish();
            Ok::<_, EventTooLong>(std::iter::from_fn(|| reader.next_item()).collect::<Vec<_>>())
        };
        let seeds: [&[u8]; 3] = [b"data: a\n\n", b"event: x\r\ndata: a\rdata: b\n\n: c\nid: 1\n", b"data\n\nretry: 5"];
        crate::fuzz::target("sse", &seeds, |bytes| {
            let whole = read(&mut std::iter::once(bytes));
            for size in [1, 2, 7] {
                let pieces = read(&mut bytes.chunks(size));
                assert_eq!(pieces.is_ok(), whole.is_ok());
                assert!(whole.is_err() || pieces.ok() == whole.as_ref().ok().cloned());
            }
            whole
        });
    }
}
