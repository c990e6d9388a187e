//! QR codes in a terminal: each line shows two rows, as half blocks. The colours are fixed, black
//! on white, and independent of the theme: not every phone reads a code that is light on dark.

use qrcode::{Color, EcLevel, QrCode};

/// Quiet modules on each side.
const QUIET_MODULES: usize = 4;
/// Black on white, from the fixed cube of 256 colours.
const COLOURS: &str = "\u{1b}[38;5;16;48;5;231m";
const PLAIN: &str = "\u{1b}[0m";

/// Draws the code of a text line by line. Returns `None` if the text is too long for a code.
pub fn draw(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let (width, modules) = (code.width(), code.to_colors());
    let is_dark = |row: usize, column: usize| {
        let inside = |at: usize| at.checked_sub(QUIET_MODULES).filter(|at| *at < width);
        let at = inside(row).zip(inside(column)).map(|(row, column)| row * width + column);
        at.and_then(|at| modules.get(at)) == Some(&Color::Dark)
    };
    let side = width + 2 * QUIET_MODULES;
    let line = |row: usize| {
        let blocks: String = (0..side).map(|column| block(is_dark(row, column), is_dark(row + 1, column))).collect();
        format!("{COLOURS}{blocks}{PLAIN}")
    };
    Some((0..side).step_by(2).map(line).collect::<Vec<_>>().join("\n"))
}

fn block(upper: bool, lower: bool) -> char {
    match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str =
        "sgnl://linkdevice?uuid=AbCdEfGhIjKlMnOpQrStUv%3D%3D&pub_key=BdK0dYzP8p1hVf2oQw9n3sXyZ0aBcDeFgHiJkLmNoPqR";

    /// Parses a drawing into modules, row by row.
    fn modules(drawing: &str) -> Vec<Vec<bool>> {
        let half = |line: &str, dark: [char; 2]| {
            let blocks = line.strip_prefix(COLOURS).unwrap().strip_suffix(PLAIN).unwrap();
            blocks.chars().map(|block| dark.contains(&block)).collect()
        };
        drawing.lines().flat_map(|line| [half(line, ['█', '▀']), half(line, ['█', '▄'])]).collect()
    }

    /// Proves: channels/signal-setup
    #[test]
    fn a_drawing_is_the_code_with_quiet_around_it() {
        let code = QrCode::with_error_correction_level(LINK, EcLevel::L).unwrap();
        let (width, rows) = (code.width(), modules(&draw(LINK).unwrap()));
        assert!(
            rows.len() >= width + 2 * QUIET_MODULES && rows.iter().all(|row| row.len() == width + 2 * QUIET_MODULES)
        );
        for (y, row) in rows.iter().enumerate() {
            for (x, is_dark) in row.iter().enumerate() {
                let inside = (QUIET_MODULES..QUIET_MODULES + width).contains(&x)
                    && (QUIET_MODULES..QUIET_MODULES + width).contains(&y);
                let wanted = inside && code[(x - QUIET_MODULES, y - QUIET_MODULES)] == Color::Dark;
                assert_eq!(*is_dark, wanted, "{x} {y}");
            }
        }
    }

    #[test]
    fn it_fits_a_terminal_of_eighty_columns() {
        let drawing = draw(LINK).unwrap();
        assert!(modules(&drawing).iter().all(|row| row.len() < 80) && drawing.lines().count() <= 32);
    }

    #[test]
    fn a_text_that_is_too_long_has_no_code() {
        assert_eq!(draw(&"x".repeat(3_000)), None);
    }
}
