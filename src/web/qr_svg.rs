//! QR codes as SVG: black on white in any colours of the page, because not every telephone
//! reads a code that is light on dark.

use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};

/// Quiet modules on each side.
const QUIET_MODULES: usize = 4;

/// Draws the code of a text, named `label`. Nothing if the text is too long for a code.
pub fn draw(text: &str, label: &str) -> Markup {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::L) else { return html! {} };
    let side = code.width() + 2 * QUIET_MODULES;
    html! {
        svg.qr viewBox={ "0 0 " (side) " " (side) } role="img" aria-label=(label) {
            rect width=(side) height=(side) fill="#fff" {}
            path d=(modules(&code)) fill="#000" {}
        }
    }
}

/// Returns the path around the dark modules, each run of a row as one rectangle.
fn modules(code: &QrCode) -> String {
    let (width, colours) = (code.width(), code.to_colors());
    let mut path = String::new();
    for (row, modules) in colours.chunks(width.max(1)).enumerate() {
        let mut column = 0;
        for run in modules.chunk_by(|one, other| one == other) {
            if run.first() == Some(&Color::Dark) {
                let (x, y, length) = (column + QUIET_MODULES, row + QUIET_MODULES, run.len());
                path.push_str(&format!("M{x} {y}h{length}v1h-{length}z"));
            }
            column += run.len();
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dark_module_is_drawn_and_no_other() {
        let link = "https://t.me/compline_bot?start=ABCD-EFGH";
        let code = QrCode::with_error_correction_level(link, EcLevel::L).unwrap();
        let mut drawn = std::collections::HashSet::new();
        for run in modules(&code).split('M').filter(|run| !run.is_empty()) {
            let (place, length) = run.split_once('h').unwrap();
            let (x, y) = place.split_once(' ').unwrap();
            let length: usize = length.split('v').next().unwrap().parse().unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            drawn.extend((x..x + length).map(|x| (x - QUIET_MODULES, y - QUIET_MODULES)));
        }
        let dark = (0..code.width()).flat_map(|y| (0..code.width()).map(move |x| (x, y)));
        let dark: std::collections::HashSet<_> = dark.filter(|place| code[*place] == Color::Dark).collect();
        assert_eq!(drawn, dark);
        assert!(draw(&"x".repeat(5_000), "").into_string().is_empty());
    }
}
