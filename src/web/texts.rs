//! Labelled texts as markup: the only file of the page that opens them.
//!
//! What a person typed and what the assistant wrote from it stands as it is. Everything that grew
//! from outside stands in a box that names its sources, so it cannot pass for the page's own words.

use maud::{Markup, html};

use super::html as render;
use crate::store::TextKind;
use crate::text::shorten;
use crate::trust::{Label, Text};
use crate::wording::Language;
use crate::wording::why::all_in_words;

/// Maximum number of characters shown of a file's text.
const MAX_FILE: usize = 20_000;

/// Renders a text of a message.
pub fn message_text(kind: TextKind, text: &Text) -> Markup {
    let (words, label, _) = text.open();
    let name = match kind {
        TextKind::Said => "",
        TextKind::Quote => "In answer to",
        TextKind::Transcript => "Spoken",
        TextKind::File => "From the file",
        TextKind::Edit => "Edited later to",
        TextKind::Carried => "Passed on with it",
    };
    let shown = if kind == TextKind::File { shorten(words, MAX_FILE) } else { words.to_string() };
    boxed(
        label,
        html! {
            @if !name.is_empty() { p.note { (name) ":" } }
            @if shown.is_empty() { p.note { "Forgotten." } } @else { (render::markdown(&shown, label)) }
        },
    )
}

/// Renders one line of a text, such as a title.
pub fn line(text: &Text) -> Markup {
    let (words, ..) = text.open();
    html! { bdi { (words) } }
}

/// Puts markup that grew from outside into a box that names its sources.
pub fn boxed(label: &Label, markup: Markup) -> Markup {
    if label.is_trusted() {
        return markup;
    }
    html! { div.outside { (sources(label)) (markup) } }
}

/// Names the sources of a label, if it has any.
pub fn sources(label: &Label) -> Markup {
    let names = all_in_words(Language::ENGLISH, label);
    html! { @if !names.is_empty() { p.sources { "From outside: " bdi { (names) } } } }
}
