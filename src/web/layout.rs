//! The frame of every page: head, navigation, and the messages that stand alone.

use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::assets;
use super::navigation::{Entry, FIRST, MORE};
use super::visitor::Visitor;
use crate::admin::CommandError;
use crate::review::reveal::reveal;
use crate::wording::page as says;

/// Renders a page. `path` is the entry of the navigation that it belongs to.
pub fn page(visitor: Option<&Visitor>, path: &str, title: &str, main: Markup) -> Html<String> {
    let theme = visitor.map_or("system", |visitor| visitor.session.theme.as_str());
    let has_shortcuts = visitor.is_some_and(|visitor| visitor.session.shortcuts);
    let markup = html! {
        (DOCTYPE)
        html lang="en-GB" data-theme=(theme) data-shortcuts[has_shortcuts] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Compline" }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::path("page.css"));
                script src=(assets::path("page.js")) defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                @if let Some(visitor) = visitor { (header(visitor, path)) }
                main #main tabindex="-1" {
                    h1 { (title) }
                    (main)
                }
            }
        }
    };
    part(markup)
}

/// Renders a part of a page, as it stands in the whole one.
pub fn part(markup: Markup) -> Html<String> {
    Html(without_controls(markup.into_string()))
}

/// Shows control characters, which belong to no page, as U+FFFD.
fn without_controls(markup: String) -> String {
    // Almost no page has any, which its bytes tell sooner than its characters.
    let (words, rest) = markup.as_bytes().as_chunks();
    let mut before = 0;
    let is_control = |byte: &u8| {
        let is_second_half = before == 0xc2 && (0x80..0xa0).contains(byte);
        before = *byte;
        is_second_half || (byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t'))
    };
    if !words.iter().filter(|word| !is_printable(word)).flatten().chain(rest).any(is_control) {
        return markup;
    }
    let is_unfit = |char: char| char.is_control() && char != '\n' && char != '\t';
    markup.replace("\r\n", "\n").replace(is_unfit, "\u{fffd}")
}

/// Returns true if all bytes are printable ASCII, looking at them at once: with one below 0x20 the
/// subtraction sets a high bit, with 0x7f the addition.
fn is_printable(bytes: &[u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let all = u64::from_ne_bytes(*bytes);
    (all | all.wrapping_sub(0x20 * ONES) | all.wrapping_add(ONES)) & (0x80 * ONES) == 0
}

/// Renders the page of what has that name, or the refusal to show it.
pub fn page_or_refusal(
    visitor: &Visitor,
    path: &str,
    name: &str,
    status: StatusCode,
    main: Result<Markup, CommandError>,
) -> Response {
    match main {
        Ok(main) => (status, page(Some(visitor), path, &reveal(name), main)).into_response(),
        Err(error) => refused(visitor, error),
    }
}

fn header(visitor: &Visitor, path: &str) -> Markup {
    let entries = |entries: &[Entry]| {
        html! { ul { @for entry in entries.iter().filter(|entry| visitor.is_owner() || !entry.is_owners) {
            li { a href=(entry.path) data-key=(entry.key) aria-current=[(entry.path == path).then_some("page")] { (entry.title) } }
        } } }
    };
    let more = MORE.iter().find(|entry| entry.path == path).map_or("More", |entry| entry.title);
    html! {
        header.top {
            nav aria-label="Pages" {
                (entries(FIRST))
                details { summary { (more) } (entries(MORE)) }
            }
        }
    }
}

/// Renders a page that says one sentence.
pub fn message(visitor: Option<&Visitor>, status: StatusCode, sentence: &str) -> Response {
    let page = page(visitor, "", "Compline", html! { p { (sentence) } p { a href="/" { "Back to the start" } } });
    (status, page).into_response()
}

/// Renders the page of an internal error, which goes to the log.
pub fn failure(error: &anyhow::Error) -> Response {
    tracing::error!("A page failed: {error:#}");
    message(None, StatusCode::INTERNAL_SERVER_ERROR, says::FAILED)
}

/// Renders the page of an internal error above the form with a text that was to be saved.
pub fn save_failure(visitor: &Visitor, path: &str, name: &str, error: &anyhow::Error, form: &Markup) -> Response {
    tracing::error!("A text could not be saved: {error:#}");
    let main = html! { p.problem role="alert" { (says::SAVE_FAILED) } (form) };
    (StatusCode::INTERNAL_SERVER_ERROR, page(Some(visitor), path, &reveal(name), main)).into_response()
}

/// Renders the end of a typed read: nothing there, or an internal error.
pub fn refused(visitor: &Visitor, error: CommandError) -> Response {
    match error {
        CommandError::Refused(_) => message(Some(visitor), StatusCode::NOT_FOUND, says::NOT_FOUND),
        CommandError::Failed(error) => failure(&error),
    }
}

/// Puts a refusal of an extractor, which is meant for programmers, into a sentence.
pub async fn explain_refusal(request: Request, next: Next) -> Response {
    let is_form = *request.method() == Method::POST;
    let response = next.run(request).await;
    let is_page = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
    if response.headers().get(CONTENT_TYPE).is_some_and(is_page) {
        return response;
    }
    match response.status() {
        StatusCode::BAD_REQUEST if !is_form => not_found().await,
        status @ (StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY) => {
            message(None, status, says::BAD_FORM)
        }
        status @ StatusCode::PAYLOAD_TOO_LARGE => message(None, status, says::TOO_LONG),
        _ => response,
    }
}

/// Answers an address that leads nowhere.
pub async fn not_found() -> Response {
    message(None, StatusCode::NOT_FOUND, says::NOT_FOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_such() {
        for (written, shown) in [
            ("Tea · €\n\tmore", "Tea · €\n\tmore"),
            ("one\r\ntwo\rthree", "one\ntwo\u{fffd}three"),
            ("\u{1}a\u{7f}b\u{80}c\u{9f}d\u{a0}", "\u{fffd}a\u{fffd}b\u{fffd}c\u{fffd}d\u{a0}"),
        ] {
            assert_eq!(without_controls(written.to_owned()), shown);
        }
        for (filler, before) in ["~", "·"].into_iter().flat_map(|filler| (0..20).map(move |before| (filler, before))) {
            let page = |char: char| format!("{}{char}{}", filler.repeat(before), filler.repeat(9));
            for char in ['\0', '\r', '\u{1f}', '\u{7f}', '\u{80}', '\u{9f}'] {
                assert_eq!(without_controls(page(char)), page('\u{fffd}'), "{char:?} after {before}");
            }
            assert_eq!(without_controls(page('\u{a0}')), page('\u{a0}'));
        }
    }
}
