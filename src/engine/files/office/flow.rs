//! Text with paragraphs and tables: docx, odt, and the sheets of ods.
//!
//! A row of a table is a line with tabs between its cells. Deleted text that is kept as a tracked
//! change is left out.

use quick_xml::events::Event;

use super::{Archive, Page, Stop, attribute, events, events_if_there, text_of};

/// Main entry of a docx document.
pub(super) const WORD: &str = "word/document.xml";
/// Main entry of an OpenDocument file.
pub(super) const OPEN: &str = "content.xml";

/// Further entries of a docx document with text.
const WORD_NOTES: [&str; 3] = ["word/footnotes.xml", "word/endnotes.xml", "word/comments.xml"];
/// Maximum number of repetitions of a cell that are written.
const MAX_REPEATED: usize = 50;

/// Reads a docx document.
pub(super) fn read_word(archive: &mut Archive<'_>, page: &mut Page<'_>) -> Result<(), Stop> {
    let (mut cells, mut in_text, mut in_stops) = (0_u64, false, false);
    let mut see = |event: &Event<'_>| match event {
        Event::Start(element) => {
            match element.local_name().as_ref() {
                "t" => in_text = true,
                "tabs" => in_stops = true,
                "tc" => cells = cells.saturating_add(1),
                "tab" if !in_stops => return page.push("\t"),
                "br" | "cr" if cells == 0 => return page.end_line(),
                "br" | "cr" => return page.push(" "),
                _ => {}
            }
            Ok(())
        }
        Event::End(element) => match element.local_name().as_ref() {
            "t" => {
                in_text = false;
                Ok(())
            }
            "tabs" => {
                in_stops = false;
                Ok(())
            }
            "p" if cells == 0 => page.end_line(),
            "p" => page.push(" "),
            "tc" => {
                cells = cells.saturating_sub(1);
                page.push("\t")
            }
            "tr" if cells == 0 => page.end_line(),
            _ => Ok(()),
        },
        event if in_text => text_of(event).map_or(Ok(()), |words| page.push(&words)),
        _ => Ok(()),
    };
    events(archive, WORD, &mut see)?;
    WORD_NOTES.iter().try_for_each(|name| events_if_there(archive, name, &mut see))
}

/// Position in an OpenDocument file.
#[derive(Default)]
struct OpenPlace {
    /// Depth within paragraphs and headings.
    paragraphs: u64,
    /// Depth within text that does not count.
    skipped: u64,
    is_sheet: bool,
    /// Repetitions of the cells around, outermost first.
    cells: Vec<usize>,
    /// Beginning of the innermost cell in the line.
    cell_from: usize,
}

/// Reads an OpenDocument file.
pub(super) fn read_open(archive: &mut Archive<'_>, page: &mut Page<'_>) -> Result<(), Stop> {
    let mut place = OpenPlace::default();
    events(archive, OPEN, |event| match event {
        Event::Start(element) => {
            let count = |name| attribute(element, name).and_then(|count| count.parse().ok()).unwrap_or(1_usize);
            match element.local_name().as_ref() {
                "tracked-changes" => place.skipped = place.skipped.saturating_add(1),
                "spreadsheet" => place.is_sheet = true,
                "p" | "h" => place.paragraphs = place.paragraphs.saturating_add(1),
                "tab" if place.paragraphs > 0 => return page.push("\t"),
                "s" if place.paragraphs > 0 => return page.push(&" ".repeat(count("c").min(MAX_REPEATED))),
                "line-break" if place.cells.is_empty() => return page.end_line(),
                "line-break" => return page.push(" "),
                "table" if place.is_sheet => {
                    let name = attribute(element, "name").unwrap_or_default();
                    page.end_line()?;
                    page.push(&name)?;
                    return page.end_line();
                }
                "table-cell" | "covered-table-cell" => {
                    place.cells.push(count("number-columns-repeated").clamp(1, MAX_REPEATED));
                    place.cell_from = page.line.len();
                }
                _ => {}
            }
            Ok(())
        }
        Event::End(element) => place.leave(element.local_name().as_ref(), page),
        event if place.paragraphs > 0 && place.skipped == 0 => text_of(event).map_or(Ok(()), |words| page.push(&words)),
        _ => Ok(()),
    })
}

impl OpenPlace {
    fn leave(&mut self, element: &str, page: &mut Page<'_>) -> Result<(), Stop> {
        match element {
            "tracked-changes" => self.skipped = self.skipped.saturating_sub(1),
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                match (self.skipped, self.cells.is_empty()) {
                    (0, true) => return page.end_line(),
                    (0, false) => return page.push(" "),
                    _ => {}
                }
            }
            "table-cell" | "covered-table-cell" => {
                let repeated = self.cells.pop().unwrap_or(1);
                // A long line may have been ended within the cell.
                let Some(cell) = page.line.get(self.cell_from..) else { return page.push("\t") };
                let cells = format!("{}\t", cell.trim_end()).repeat(repeated);
                page.line.truncate(self.cell_from);
                return page.push(&cells);
            }
            "table-row" if self.cells.is_empty() => return page.end_line(),
            _ => {}
        }
        Ok(())
    }
}
