//! Text of office documents: docx, xlsx, odt and ods, each an archive of XML files.
//!
//! Runs in the process that reads documents, like every parser. Entries are unpacked as they are
//! read and only up to a limit, nested elements cost no stack, and entities other than those of XML
//! itself are not expanded, so neither an archive nor its XML can grow beyond what the process may
//! use. Text that was read before a fault counts.

mod flow;
mod sheet;

use std::borrow::Cow;
use std::io::{BufReader, Cursor, Read};

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use zip::ZipArchive;

use crate::text::cut_bytes;

/// Maximum number of bytes unpacked of one entry: far more XML than the text that is kept needs.
const MAX_ENTRY: u64 = 16 << 20;
/// Number of bytes after which text is passed on. Longer lines are split.
const PAGE: usize = 16 << 10;

/// Archive of a document.
type Archive<'b> = ZipArchive<Cursor<&'b [u8]>>;

/// A document that cannot be read, or only in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

/// Reason to stop reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The reader of the text wants no more.
    Enough,
    /// The document is broken.
    Broken,
}

/// Passes the text of a document to `each`, some lines at a time. Stops when it returns `false`.
///
/// # Errors
/// If a part of the document cannot be read. The text before it counts.
pub(super) fn read(bytes: &[u8], each: &mut dyn FnMut(&str) -> bool) -> Result<(), Broken> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| Broken)?;
    let has = |archive: &Archive<'_>, name: &str| archive.index_for_name(name).is_some();
    let mut page = Page { each, text: String::new(), line: String::new() };
    let read = if has(&archive, flow::WORD) {
        flow::read_word(&mut archive, &mut page)
    } else if has(&archive, sheet::WORKBOOK) {
        sheet::read(&mut archive, &mut page)
    } else if has(&archive, flow::OPEN) {
        flow::read_open(&mut archive, &mut page)
    } else {
        Err(Stop::Broken)
    };
    let rest = if read == Err(Stop::Enough) { Ok(()) } else { page.end_line().and_then(|()| page.pass_on()) };
    match (read, rest) {
        (Err(Stop::Broken), _) => Err(Broken),
        _ => Ok(()),
    }
}

/// Text read so far that was not passed on.
struct Page<'e> {
    each: &'e mut dyn FnMut(&str) -> bool,
    text: String,
    line: String,
}

impl Page<'_> {
    fn push(&mut self, words: &str) -> Result<(), Stop> {
        let mut rest = words;
        while self.line.len() + rest.len() > PAGE {
            // No character is longer than four bytes.
            let part = cut_bytes(rest, PAGE.saturating_sub(self.line.len()).max(4));
            self.line.push_str(part);
            rest = rest.get(part.len()..).unwrap_or_default();
            self.end_line()?;
        }
        self.line.push_str(rest);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Stop> {
        self.text.push_str(self.line.trim_end());
        self.text.push('\n');
        self.line.clear();
        if self.text.len() > PAGE { self.pass_on() } else { Ok(()) }
    }

    fn pass_on(&mut self) -> Result<(), Stop> {
        let words = std::mem::take(&mut self.text);
        let goes_on = words.trim().is_empty() || (self.each)(words.trim_end());
        if goes_on { Ok(()) } else { Err(Stop::Enough) }
    }
}

/// Passes the events of an entry to `see`; an empty element is a start and an end.
fn events(
    archive: &mut Archive<'_>,
    name: &str,
    mut see: impl FnMut(&Event<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let entry = archive.by_name(name).map_err(|_| Stop::Broken)?;
    let mut reader = Reader::from_reader(BufReader::new(entry.take(MAX_ENTRY)));
    reader.config_mut().expand_empty_elements = true;
    let (mut buffer, mut depth) = (Vec::new(), 0_u64);
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(|_| Stop::Broken)?;
        match &event {
            Event::Start(_) => depth = depth.saturating_add(1),
            Event::End(_) => depth = depth.saturating_sub(1),
            // An entry that was cut ends inside an element.
            Event::Eof => return if depth == 0 { Ok(()) } else { Err(Stop::Broken) },
            _ => {}
        }
        see(&event)?;
    }
}

/// Passes the events of an optional entry to `see`.
fn events_if_there(
    archive: &mut Archive<'_>,
    name: &str,
    see: impl FnMut(&Event<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    if archive.index_for_name(name).is_some() { events(archive, name, see) } else { Ok(()) }
}

/// Returns the text that an event is; `None` for any other event, and for an entity that XML does
/// not define.
fn text_of<'e>(event: &Event<'e>) -> Option<Cow<'e, str>> {
    match event {
        Event::Text(text) => Some(text.xml10_content()),
        Event::CData(text) => Some(text.xml10_content()),
        Event::GeneralRef(entity) => match entity.resolve_char_ref() {
            Ok(Some(character)) => Some(character.to_string().into()),
            _ => match &*entity.xml10_content() {
                "lt" => Some("<".into()),
                "gt" => Some(">".into()),
                "amp" => Some("&".into()),
                "quot" => Some("\"".into()),
                "apos" => Some("'".into()),
                _ => None,
            },
        },
        _ => None,
    }
}

/// Returns an attribute by its name without the prefix.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let found = attributes.with_checks(false).flatten().find(|found| found.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
}
