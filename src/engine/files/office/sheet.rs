//! Sheets of an xlsx workbook: each with its name, a row in a line, tabs between the cells.
//!
//! A date is a number whose style says so, so the styles are read too. A formula is shown as its
//! last result.

use std::collections::BTreeMap;

use chrono::{NaiveDate, TimeDelta};
use quick_xml::events::{BytesStart, Event};

use super::{Archive, Page, Stop, attribute, events, events_if_there, text_of};

/// Main entry of a workbook.
pub(super) const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";

/// Maximum number of empty cells written between two others.
const MAX_GAP: usize = 50;
/// Built-in formats that display a date or time.
const DATES: [std::ops::RangeInclusive<u32>; 4] = [14..=22, 27..=36, 45..=47, 50..=58];

/// The parts of a workbook that its sheets refer to.
#[derive(Default)]
struct Workbook {
    /// Names of the sheets with the ids of their entries.
    sheets: Vec<(String, String)>,
    /// Entries by id.
    entries: BTreeMap<String, String>,
    strings: Vec<String>,
    /// For each style, true if it displays a date.
    dates: Vec<bool>,
    /// Days are counted from 1904.
    is_1904: bool,
}

/// Reads a workbook.
pub(super) fn read(archive: &mut Archive<'_>, page: &mut Page<'_>) -> Result<(), Stop> {
    let workbook = Workbook::read(archive)?;
    for (name, id) in &workbook.sheets {
        let entry = workbook.entries.get(id).ok_or(Stop::Broken)?;
        page.end_line()?;
        page.push(name)?;
        page.end_line()?;
        workbook.read_sheet(archive, entry, page)?;
    }
    Ok(())
}

/// A cell that is being read.
#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    style: usize,
    value: String,
}

impl Workbook {
    fn read(archive: &mut Archive<'_>) -> Result<Self, Stop> {
        let mut book = Self::default();
        events(archive, WORKBOOK, |event| {
            let Event::Start(element) = event else { return Ok(()) };
            match element.local_name().as_ref() {
                "sheet" => book.sheets.push((
                    attribute(element, "name").unwrap_or_default(),
                    attribute(element, "id").unwrap_or_default(),
                )),
                "workbookPr" => {
                    book.is_1904 = attribute(element, "date1904").is_some_and(|flag| flag == "1" || flag == "true");
                }
                _ => {}
            }
            Ok(())
        })?;
        events(archive, RELATIONS, |event| {
            if let Event::Start(element) = event
                && let (Some(id), Some(target)) = (attribute(element, "Id"), attribute(element, "Target"))
            {
                let entry = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
                book.entries.insert(id, entry);
            }
            Ok(())
        })?;
        book.read_strings(archive)?;
        book.read_styles(archive)?;
        Ok(book)
    }

    /// Reads the texts that cells share, without the readings of East Asian ones.
    fn read_strings(&mut self, archive: &mut Archive<'_>) -> Result<(), Stop> {
        let (mut in_text, mut in_reading) = (false, false);
        events_if_there(archive, STRINGS, |event| {
            match event {
                Event::Start(element) => match element.local_name().as_ref() {
                    "si" => self.strings.push(String::new()),
                    "t" => in_text = true,
                    "rPh" => in_reading = true,
                    _ => {}
                },
                Event::End(element) => match element.local_name().as_ref() {
                    "t" => in_text = false,
                    "rPh" => in_reading = false,
                    _ => {}
                },
                event if in_text && !in_reading => {
                    if let (Some(string), Some(words)) = (self.strings.last_mut(), text_of(event)) {
                        string.push_str(&words);
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn read_styles(&mut self, archive: &mut Archive<'_>) -> Result<(), Stop> {
        let (mut formats, mut in_cells) = (BTreeMap::new(), false);
        events_if_there(archive, STYLES, |event| {
            match event {
                Event::Start(element) => match element.local_name().as_ref() {
                    "numFmt" => {
                        let code = attribute(element, "formatCode").unwrap_or_default();
                        formats.insert(number(element, "numFmtId"), is_date_format(&code));
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells => {
                        let id = number(element, "numFmtId");
                        let is_built_in = || DATES.iter().any(|range| range.contains(&id));
                        self.dates.push(formats.get(&id).copied().unwrap_or_else(is_built_in));
                    }
                    _ => {}
                },
                Event::End(element) if element.local_name().as_ref() == "cellXfs" => in_cells = false,
                _ => {}
            }
            Ok(())
        })
    }

    fn read_sheet(&self, archive: &mut Archive<'_>, entry: &str, page: &mut Page<'_>) -> Result<(), Stop> {
        let (mut cell, mut in_value, mut next_column) = (Cell::default(), false, 0_usize);
        events(archive, entry, |event| match event {
            Event::Start(element) => {
                match element.local_name().as_ref() {
                    "c" => cell = Cell::of(element, next_column),
                    "v" | "t" => in_value = true,
                    _ => {}
                }
                Ok(())
            }
            Event::End(element) => match element.local_name().as_ref() {
                "v" | "t" => {
                    in_value = false;
                    Ok(())
                }
                "c" => {
                    let gap = cell.column.saturating_sub(next_column).min(MAX_GAP);
                    next_column = cell.column.saturating_add(1);
                    page.push(&"\t".repeat(gap))?;
                    page.push(&self.shown(&cell))?;
                    page.push("\t")
                }
                "row" => {
                    next_column = 0;
                    page.end_line()
                }
                _ => Ok(()),
            },
            event if in_value => {
                cell.value.push_str(&text_of(event).unwrap_or_default());
                Ok(())
            }
            _ => Ok(()),
        })
    }

    /// Returns the value of a cell as its sheet displays it, in one line.
    fn shown(&self, cell: &Cell) -> String {
        let value = match cell.kind.as_str() {
            "s" => cell.value.trim().parse().ok().and_then(|index: usize| self.strings.get(index)).cloned(),
            "b" => Some(if cell.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned()),
            "" | "n" if self.dates.get(cell.style).copied().unwrap_or(false) => date(&cell.value, self.is_1904),
            _ => None,
        };
        value.as_ref().unwrap_or(&cell.value).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Cell {
    fn of(element: &BytesStart<'_>, next_column: usize) -> Self {
        let column = attribute(element, "r").and_then(|place| column(&place)).unwrap_or(next_column);
        let style = attribute(element, "s").and_then(|style| style.parse().ok()).unwrap_or(0);
        Self { column, kind: attribute(element, "t").unwrap_or_default(), style, value: String::new() }
    }
}

fn number(element: &BytesStart<'_>, name: &str) -> u32 {
    attribute(element, name).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the column of a place as `AB12`, counted from zero.
fn column(place: &str) -> Option<usize> {
    let letters = place.chars().take_while(char::is_ascii_alphabetic);
    let column = letters.take(4).fold(0_usize, |column, letter| {
        let letter = usize::from(u8::try_from(letter.to_ascii_uppercase()).unwrap_or(b'A') - b'A');
        column * 26 + letter + 1
    });
    column.checked_sub(1)
}

/// Returns true if a format code displays a date or time. Quoted text and colours do not count.
fn is_date_format(code: &str) -> bool {
    let (mut quoted, mut bracketed, mut escaped) = (false, false, false);
    code.chars().any(|c| {
        let counts = !quoted && !bracketed && !escaped;
        escaped = counts && c == '\\';
        match c {
            '"' => quoted = !quoted,
            '[' if counts => bracketed = true,
            ']' => bracketed = false,
            _ => return counts && matches!(c.to_ascii_lowercase(), 'y' | 'd' | 'h' | 's'),
        }
        false
    })
}

/// Returns the date, the time of day, or both, of a serial number.
#[allow(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn date(serial: &str, is_1904: bool) -> Option<String> {
    let serial: f64 = serial.trim().parse().ok().filter(|serial: &f64| serial.is_finite())?;
    let minutes = (serial * 24.0 * 60.0).round() as i64;
    let (days, minutes) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let time = format!("{:02}:{:02}", minutes / 60, minutes % 60);
    if days == 0 {
        return Some(time);
    }
    let epoch = if is_1904 { NaiveDate::from_ymd_opt(1904, 1, 1) } else { NaiveDate::from_ymd_opt(1899, 12, 30) };
    let day = epoch?.checked_add_signed(TimeDelta::try_days(days)?)?;
    Some(if minutes == 0 { day.to_string() } else { format!("{day} {time}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_formats_and_dates_are_read() {
        for (place, expected) in [("A1", Some(0)), ("Z9", Some(25)), ("AA1", Some(26)), ("12", None), ("", None)] {
            assert_eq!(column(place), expected, "{place}");
        }
        for (code, is) in [
            ("dd.mm.yyyy", true),
            ("h:mm", true),
            ("0.00", false),
            ("#,##0.00 \"days\"", false),
            ("[Red]0", false),
            ("0\\d", false),
            ("[$-409]d-mmm", true),
        ] {
            assert_eq!(is_date_format(code), is, "{code}");
        }
        for (serial, is_1904, expected) in [
            ("46350", false, Some("2026-11-24")),
            ("46350.395833333336", false, Some("2026-11-24 09:30")),
            ("0.5", false, Some("12:00")),
            ("1", true, Some("1904-01-02")),
            ("1e300", false, None),
            ("nan", false, None),
            ("x", false, None),
        ] {
            assert_eq!(date(serial, is_1904).as_deref(), expected, "{serial}");
        }
    }
}
