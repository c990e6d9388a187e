//! Tables as aligned lines of plain text for a monospaced font. Columns are measured by display
//! width and padded up to a cap, so that one huge cell cannot widen every other row.

use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

const MAX_PADDED: usize = 40;

/// Cells as plain text; the first row is the head.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// One line per row, with a rule below the head.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        lines.insert(lines.len().min(1), rule.join("─┼─"));
        lines
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().clamp(*width, MAX_PADDED.max(*width));
            }
        }
        widths
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).zip(&self.alignments);
        let cells: Vec<String> = cells.map(|((cell, width), alignment)| pad(cell, *width, *alignment)).collect();
        cells.join(" │ ").trim_end().to_owned()
    }
}

fn pad(cell: &str, width: usize, alignment: Alignment) -> String {
    let free = width.saturating_sub(cell.width());
    let before = match alignment {
        Alignment::Right => free,
        Alignment::Center => free / 2,
        Alignment::Left | Alignment::None => 0,
    };
    format!("{}{cell}{}", " ".repeat(before), " ".repeat(free - before))
}
