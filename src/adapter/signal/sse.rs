//! Parser of server-sent events. Pure.
//!
//! It reads only the part of the format that the daemon writes: `event:` and `data:` lines ending
//! with LF or CRLF, a blank line as the end of an event, and comments as keep-alives. Other fields
//! are skipped. Memory is bounded by the longest event.

use super::socket::{ConnectionError, LONGEST};

/// A parsed event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SseEvent {
    /// A message.
    Received(String),
    /// A keep-alive.
    Alive,
}

/// Splits a byte stream into events, regardless of how the bytes are chunked.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    bytes: Vec<u8>,
    /// Number of bytes already parsed.
    read: usize,
    /// Number of bytes known to hold no newline after `read`.
    scanned: usize,
    event: String,
    data: Option<String>,
}

impl SseParser {
    /// Appends bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.read.min(self.bytes.len()));
        self.scanned = self.scanned.saturating_sub(self.read);
        self.read = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next event in the bytes received so far.
    pub(super) fn next(&mut self) -> Result<Option<SseEvent>, ConnectionError> {
        while let Some(line) = self.line()? {
            if let Some(sign) = self.take(&line)? {
                return Ok(Some(sign));
            }
        }
        Ok(None)
    }

    fn line(&mut self) -> Result<Option<String>, ConnectionError> {
        let unread = self.bytes.get(self.scanned.max(self.read)..).unwrap_or_default();
        let Some(at) = unread.iter().position(|byte| *byte == b'\n') else {
            self.scanned = self.bytes.len();
            let waiting = self.bytes.len().saturating_sub(self.read);
            return if waiting > LONGEST { Err(ConnectionError::TooLong) } else { Ok(None) };
        };
        let end = self.scanned.max(self.read).saturating_add(at);
        let line = self.bytes.get(self.read..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = std::str::from_utf8(line).map_err(|_| ConnectionError::Garbled)?.to_owned();
        self.read = end.saturating_add(1);
        self.scanned = self.read;
        Ok(Some(line))
    }

    fn take(&mut self, line: &str) -> Result<Option<SseEvent>, ConnectionError> {
        if line.is_empty() {
            let (event, data) = (std::mem::take(&mut self.event), self.data.take());
            return Ok(data.filter(|_| event == "receive").map(SseEvent::Received));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => return Ok(Some(SseEvent::Alive)),
            "event" => value.clone_into(&mut self.event),
            "data" => self.add(value)?,
            _ => {}
        }
        Ok(None)
    }

    fn add(&mut self, value: &str) -> Result<(), ConnectionError> {
        if self.data.as_ref().map_or(0, String::len).saturating_add(value.len()) > LONGEST {
            return Err(ConnectionError::TooLong);
        }
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signs(chunks: &[&[u8]]) -> Result<Vec<SseEvent>, ConnectionError> {
        let (mut splitter, mut signs) = (SseParser::default(), Vec::new());
        for chunk in chunks {
            splitter.feed(chunk);
            while let Some(sign) = splitter.next()? {
                signs.push(sign);
            }
        }
        Ok(signs)
    }

    fn received(text: &str) -> SseEvent {
        SseEvent::Received(text.to_owned())
    }

    #[test]
    fn events_comments_and_all_else() {
        let stream = b":\r\nevent:receive\r\ndata:{\"a\":1}\r\n\r\nevent: receive\nid: 7\ndata: {\ndata: }\n\n: alive\nevent:other\ndata:x\n\ndata:y\n\nretry: 1\n\nevent:receive\n\n";
        let expected = [SseEvent::Alive, received("{\"a\":1}"), received("{\n}"), SseEvent::Alive];
        assert_eq!(signs(&[stream]).unwrap(), expected);
    }

    #[test]
    fn an_event_that_is_not_ended_has_not_come() {
        assert_eq!(signs(&[b"event:receive\ndata:{}\n"]), Ok(Vec::new()));
    }

    #[test]
    fn bytes_that_are_no_text_break_the_stream() {
        assert_eq!(signs(&[b"event:receive\ndata:\xff\n\n"]), Err(ConnectionError::Garbled));
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let chunk = vec![b'x'; 1 << 20];
        let long: Vec<&[u8]> = std::iter::repeat_n(chunk.as_slice(), 33).collect();
        assert_eq!(signs(&long), Err(ConnectionError::TooLong));
        let line = [b"data:".as_slice(), &chunk, b"\n"].concat();
        let long: Vec<&[u8]> = std::iter::repeat_n(line.as_slice(), 33).collect();
        assert_eq!(signs(&long), Err(ConnectionError::TooLong));
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_signs_are_the_same(
            texts in prop::collection::vec("[^\r\n]{0,12}", 0..6),
            cuts in prop::collection::vec(1_usize..9, 1..60),
        ) {
            let mut stream = String::new();
            let mut expected = Vec::new();
            for text in &texts {
                stream.push_str(&format!(": alive\r\nevent:receive\ndata: {text}\n\n"));
                expected.extend([SseEvent::Alive, received(text)]);
            }
            let (mut rest, mut chunks) = (stream.as_bytes(), Vec::new());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(signs(&chunks).unwrap(), expected);
        }

        #[test]
        fn any_bytes_can_be_read(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let _ = signs(&chunks);
        }
    }
}
