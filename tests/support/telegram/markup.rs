//! The HTML subset of the Bot API, parsed strictly: text and entities from well-formed input, an
//! error otherwise.
//!
//! In three points it is stricter than the real server, which would silently show something else: a
//! bare ampersand or unknown character reference, markup inside `code` or `pre`, and nested block
//! quotes are errors here.

use serde_json::{Value, json};

/// Visible text with its entities in UTF-16 units.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Formatted {
    pub(super) text: String,
    pub(super) entities: Vec<Value>,
}

impl Formatted {
    /// A text without markup; the server trims white space at both ends.
    pub(super) fn plain(raw: &str, entities: Option<Value>) -> Self {
        let given = entities.and_then(|list| list.as_array().cloned()).unwrap_or_default();
        match given.is_empty() {
            true => Self { text: raw.trim().to_owned(), entities: given },
            false => Self { text: raw.trim_end().to_owned(), entities: given },
        }
    }
}

/// An open tag.
struct Open {
    name: String,
    kind: &'static str,
    argument: Option<(&'static str, String)>,
    start: usize,
}

struct Parser<'a> {
    source: &'a str,
    at: usize,
    text: String,
    open: Vec<Open>,
    entities: Vec<Value>,
}

pub(super) fn parse_html(source: &str) -> Result<Formatted, String> {
    let mut parser = Parser { source, at: 0, text: String::new(), open: Vec::new(), entities: Vec::new() };
    while let Some(next) = parser.rest().chars().next() {
        match next {
            '<' if parser.rest().starts_with("</") => parser.end_tag()?,
            '<' => parser.start_tag()?,
            '&' => {
                let (character, length) = reference(parser.rest()).ok_or_else(|| parser.bad_reference())?;
                parser.text.push(character);
                parser.at += length;
            }
            other => {
                parser.text.push(other);
                parser.at += other.len_utf8();
            }
        }
    }
    match parser.open.last() {
        Some(open) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", open.name)),
        None => Ok(parser.finish()),
    }
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn bad_reference(&self) -> String {
        format!("Unsupported character reference at byte offset {}", self.at)
    }

    fn start_tag(&mut self) -> Result<(), String> {
        let at = self.at;
        let inside = inside(&self.rest()[1..]).ok_or_else(|| format!("Unclosed start tag at byte offset {at}"))?;
        let name_end = inside.find(|c: char| c.is_whitespace()).unwrap_or(inside.len());
        let name = inside[..name_end].to_ascii_lowercase();
        let attributes = attributes(&inside[name_end..]).ok_or_else(|| {
            format!("Expected equal sign in declaration of an attribute of the tag \"{name}\" at byte offset {at}")
        })?;
        let (kind, argument) = self
            .entity(&name, &attributes)
            .ok_or_else(|| format!("Unsupported start tag \"{name}\" at byte offset {at}"))?;
        self.check_nesting(kind)?;
        self.open.push(Open { name, kind, argument, start: self.text.encode_utf16().count() });
        self.at += inside.len() + 2;
        Ok(())
    }

    /// Entity of a tag, if it has one.
    fn entity(
        &self,
        name: &str,
        attributes: &[(String, String)],
    ) -> Option<(&'static str, Option<(&'static str, String)>)> {
        let value = |key: &str| attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        let kind = match name {
            "b" | "strong" => "bold",
            "i" | "em" => "italic",
            "u" | "ins" => "underline",
            "s" | "strike" | "del" => "strikethrough",
            "tg-spoiler" => "spoiler",
            "span" if value("class").as_deref() == Some("tg-spoiler") => "spoiler",
            "blockquote" if value("expandable").is_some() => "expandable_blockquote",
            "blockquote" => "blockquote",
            "pre" => "pre",
            "a" => return Some(("text_link", Some(("url", value("href")?)))),
            "tg-emoji" => return Some(("custom_emoji", Some(("custom_emoji_id", value("emoji-id")?)))),
            "code" => {
                let language = value("class").and_then(|class| class.strip_prefix("language-").map(str::to_owned));
                return Some(("code", language.map(|language| ("language", language))));
            }
            _ => return None,
        };
        Some((kind, None))
    }

    fn check_nesting(&self, kind: &str) -> Result<(), String> {
        let at = self.at;
        let inner = self.open.last().map(|open| open.kind);
        if matches!(inner, Some("code")) || (matches!(inner, Some("pre")) && kind != "code") {
            return Err(format!("Entity \"{kind}\" inside \"{}\" at byte offset {at}", inner.unwrap_or_default()));
        }
        let quoted = self.open.iter().any(|open| open.kind.ends_with("blockquote"));
        match quoted && kind.ends_with("blockquote") {
            true => Err(format!("Nested block quote at byte offset {at}")),
            false => Ok(()),
        }
    }

    fn end_tag(&mut self) -> Result<(), String> {
        let at = self.at;
        let inside = inside(&self.rest()[2..]).ok_or_else(|| format!("Unclosed end tag at byte offset {at}"))?;
        let name = inside.trim().to_ascii_lowercase();
        let open = self.open.pop().ok_or_else(|| format!("Unexpected end tag at byte offset {at}"))?;
        if name != open.name {
            let expected = &open.name;
            return Err(format!(
                "Unmatched end tag at byte offset {at}, expected \"</{expected}>\", found \"</{name}>\""
            ));
        }
        self.at += inside.len() + 3;
        self.close(open);
        Ok(())
    }

    /// Stores a finished entity; `<pre><code class="language-x">` is one entity, as on the real
    /// server.
    fn close(&mut self, open: Open) {
        let length = self.text.encode_utf16().count() - open.start;
        let in_pre = self.open.last().is_some_and(|outer| outer.kind == "pre" && outer.start == open.start);
        if in_pre && open.kind == "code" {
            if let Some(outer) = self.open.last_mut() {
                outer.argument = open.argument;
            }
            return;
        }
        if length == 0 {
            return;
        }
        let mut entity = json!({ "type": open.kind, "offset": open.start, "length": length });
        if let Some((key, value)) = open.argument.filter(|_| open.kind != "code") {
            entity[key] = json!(value);
        }
        self.entities.push(entity);
    }

    /// Trims white space at both ends, at the start only before the first entity.
    fn finish(mut self) -> Formatted {
        self.entities.sort_by_key(|entity| (entity["offset"].as_u64(), std::cmp::Reverse(entity["length"].as_u64())));
        let first = self.entities.first().and_then(|entity| entity["offset"].as_u64()).unwrap_or(u64::MAX);
        let mut cut = 0;
        for character in self.text.chars() {
            if !character.is_whitespace() || cut >= first {
                break;
            }
            cut += 1;
        }
        let text: String = self.text.chars().skip(usize::try_from(cut).unwrap_or(0)).collect();
        let text = text.trim_end().to_owned();
        let end = u64::try_from(text.encode_utf16().count()).unwrap_or(u64::MAX);
        self.entities.retain_mut(|entity| {
            let offset = entity["offset"].as_u64().unwrap_or(0).saturating_sub(cut);
            let length = entity["length"].as_u64().unwrap_or(0).min(end.saturating_sub(offset));
            entity["offset"] = json!(offset);
            entity["length"] = json!(length);
            length > 0
        });
        Formatted { text, entities: self.entities }
    }
}

/// The inside of a tag up to the first closing bracket outside of quotes.
fn inside(rest: &str) -> Option<&str> {
    let mut quote = None;
    for (index, character) in rest.char_indices() {
        match (quote, character) {
            (None, '>') => return Some(&rest[..index]),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// Name and value of each attribute; only `expandable` may lack a value.
fn attributes(mut rest: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Some(found);
        }
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let name = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let Some(after) = rest.strip_prefix('=') else {
            (name == "expandable").then_some(())?;
            found.push((name, String::new()));
            continue;
        };
        let after = after.trim_start();
        let (value, left) = match after.chars().next()? {
            quote @ ('"' | '\'') => after[1..].split_once(quote)?,
            _ => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        found.push((name, decoded(value)?));
        rest = left;
    }
}

fn decoded(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some(next) = rest.chars().next() {
        let (character, length) = if next == '&' { reference(rest)? } else { (next, next.len_utf8()) };
        text.push(character);
        rest = &rest[length..];
    }
    Some(text)
}

/// A character reference at the start of the text, with its length in bytes.
fn reference(rest: &str) -> Option<(char, usize)> {
    let end = rest.find(';').filter(|end| *end <= 10)?;
    let name = &rest[1..end];
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|character| *character != '\0')?
        }
    };
    Some((character, end + 1))
}
