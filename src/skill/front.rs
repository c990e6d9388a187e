//! The YAML between the two `---` lines, read as text.
//!
//! Every value is kept as written: `1.10` stays `1.10`, `yes` stays `yes`, since the format knows
//! only text. Aliases are refused and the depth is limited, so that a small file cannot become a
//! large value. Constructs that are YAML but that the format's own reader rejects (flow style,
//! tags, anchors, duplicate keys) are accepted and recorded as [`Front::unusual`]. If the text is
//! not YAML at all, [`by_lines`] still finds the plain `key: value` lines.

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle};

/// The maximum nesting depth. The format needs two levels.
const DEEPEST: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A single value, as written except for quotes and folding.
    Text(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping.
    Map(Vec<FrontMatterEntry>),
}

/// A value with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontMatterEntry {
    /// The line of the key, from 1.
    pub line: usize,
    pub key: String,
    pub value: Value,
}

/// The parsed front matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Front {
    /// In file order.
    pub entries: Vec<FrontMatterEntry>,
    /// The line and description of a construct that is YAML but not part of the format.
    pub unusual: Option<(usize, &'static str)>,
}

/// A parse error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontMatterError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

impl Value {
    /// Returns the value as one text; lists and maps are written out.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::List(values) => values.iter().map(Self::text).collect::<Vec<_>>().join(", "),
            Self::Map(entries) => {
                let pairs = entries.iter().map(|entry| format!("{}: {}", entry.key, entry.value.text()));
                pairs.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Returns the value as words: the items of a list, or a text split at spaces and commas
    /// outside of parentheses.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Self::Text(text) => split_words(text),
            Self::List(values) => values.iter().map(Self::text).filter(|word| !word.is_empty()).collect(),
            Self::Map(_) => Vec::new(),
        }
    }

    fn entries(&self) -> &[FrontMatterEntry] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }
}

impl Front {
    /// Returns the value under this key.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        find(&self.entries, key)
    }

    /// Returns the values under `metadata`.
    pub(super) fn metadata(&self) -> &[FrontMatterEntry] {
        self.get("metadata").map(Value::entries).unwrap_or_default()
    }

    /// Returns the list under the first of these keys that is present, at the top level or under
    /// `metadata`.
    pub(super) fn list(&self, keys: &[&str]) -> Vec<String> {
        let found = keys.iter().find_map(|key| self.get(key).or_else(|| find(self.metadata(), key)));
        found.map(Value::words).unwrap_or_default()
    }

    /// Returns the text under a key, unless it is blank.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(Value::text).filter(|text| !text.is_empty())
    }
}

/// Parses YAML whose top level is a mapping, or empty.
pub(super) fn parse(yaml: &str) -> Result<Front, FrontMatterError> {
    let mut reader = FrontMatterParser { parser: Parser::new_from_str(yaml), unusual: None };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(..) | Event::Comment(..), _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Front::default()),
            (event, span) => {
                let line = span.start.line();
                let Value::Map(entries) = reader.value(event, span, 0)? else {
                    return Err(FrontMatterError { line, why: "it is not made of `key: value` lines".to_owned() });
                };
                reader.end()?;
                return Ok(Front { entries, unusual: reader.unusual });
            }
        }
    }
}

/// Returns the plain `key: value` lines of text that is not YAML. Indented lines belong to the
/// value before them.
pub(super) fn by_lines(text: &str) -> Front {
    let mut entries: Vec<FrontMatterEntry> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with([' ', '\t']) {
            if let Some(FrontMatterEntry { value: Value::Text(value), .. }) = entries.last_mut() {
                *value = format!("{value} {}", line.trim()).trim().to_owned();
            }
        } else if let Some((key, value)) = line.split_once(':')
            && is_key(key)
            && find(&entries, key).is_none()
        {
            let value = Value::Text(unquoted(value.trim()).to_owned());
            entries.push(FrontMatterEntry { line: index + 1, key: key.to_owned(), value });
        }
    }
    Front { entries, unusual: None }
}

struct FrontMatterParser<'a> {
    parser: Parser<'a, StrInput<'a>>,
    unusual: Option<(usize, &'static str)>,
}

impl<'a> FrontMatterParser<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), FrontMatterError> {
        match self.parser.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(broken(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Returns the next event that is not a comment.
    fn next_node(&mut self) -> Result<(Event<'a>, Span), FrontMatterError> {
        loop {
            match self.next()? {
                (Event::Comment(..), _) => {}
                next => return Ok(next),
            }
        }
    }

    fn value(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Value, FrontMatterError> {
        let line = span.start.line();
        if depth > DEEPEST {
            return Err(FrontMatterError { line, why: "it is nested too deeply".to_owned() });
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.note(line, StructureStyle::Block, anchor, tag.is_some());
                // The parser's representation of an empty value.
                let blank = style == ScalarStyle::Plain && text == "~";
                Ok(Value::Text(if blank { String::new() } else { text.into_owned() }))
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.note(line, style, anchor, tag.is_some());
                self.list(depth)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.note(line, style, anchor, tag.is_some());
                self.map(depth)
            }
            _ => Err(FrontMatterError { line, why: "it refers to another place of the file".to_owned() }),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, FrontMatterError> {
        let mut values = Vec::new();
        loop {
            match self.next_node()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(values)),
                (event, span) => values.push(self.value(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, FrontMatterError> {
        let mut entries: Vec<FrontMatterEntry> = Vec::new();
        loop {
            let (event, span) = self.next_node()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(Value::Map(entries));
            }
            let line = span.start.line();
            let key = self.value(event, span, depth + 1)?.text();
            let (event, span) = self.next_node()?;
            let value = self.value(event, span, depth + 1)?;
            if find(&entries, &key).is_some() {
                self.unusual.get_or_insert((line, "a key that stands there twice"));
            } else {
                entries.push(FrontMatterEntry { line, key, value });
            }
        }
    }

    fn note(&mut self, line: usize, style: StructureStyle, anchor: usize, tagged: bool) {
        let what = if style == StructureStyle::Flow {
            "a value in brackets"
        } else if anchor != 0 {
            "an anchor"
        } else if tagged {
            "a tag"
        } else {
            return;
        };
        self.unusual.get_or_insert((line, what));
    }

    /// Checks that only the end follows.
    fn end(&mut self) -> Result<(), FrontMatterError> {
        loop {
            match self.next_node()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd, _) => {}
                (_, span) => {
                    return Err(FrontMatterError {
                        line: span.start.line(),
                        why: "a second document begins".to_owned(),
                    });
                }
            }
        }
    }
}

fn broken(error: &ScanError) -> FrontMatterError {
    FrontMatterError { line: error.marker().line(), why: error.info() }
}

fn find<'a>(entries: &'a [FrontMatterEntry], key: &str) -> Option<&'a Value> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_')
}

/// Returns the value without surrounding quotes or the marker of a block scalar.
fn unquoted(value: &str) -> &str {
    if matches!(value, ">" | "|" | ">-" | "|-" | ">+" | "|+") {
        return "";
    }
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(yaml: &str, key: &str) -> String {
        parse(yaml).unwrap().get(key).unwrap().text()
    }

    #[test]
    fn a_value_is_what_stands_there() {
        for (yaml, expected) in [
            ("a: 1.10", "1.10"),
            ("a: yes", "yes"),
            ("a: 0x10", "0x10"),
            ("a: null", "null"),
            ("a:", ""),
            ("a: '~'", "~"),
            ("a: 'it''s'", "it's"),
            ("a: \"b\\tc\"", "b\tc"),
            ("a: b # c", "b"),
            ("# c\na: b", "b"),
            ("a: [b, 'c d', {e: f}]", "b, c d, e: f"),
            ("a: b\na: c", "b"),
        ] {
            assert_eq!(text(yaml, "a"), expected, "{yaml}");
        }
        assert_eq!(parse("").unwrap(), Front::default());
    }

    #[test]
    fn front_matter_with_aliases_deep_nesting_or_no_mapping_is_refused() {
        let nested = |depth: usize| format!("a: {}b{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(DEEPEST - 1)).is_ok());
        let too_deep = nested(DEEPEST + 1);
        for yaml in ["a: &b c\nd: *b", "a: *b", "- a", "a", "a: b\n---\nc: d", "a: b: c", "a: 'b", too_deep.as_str()] {
            assert!(parse(yaml).is_err(), "{yaml}");
        }
        assert_eq!(parse("a: b\nc: d: e").unwrap_err().line, 2);
    }

    #[test]
    fn words_are_parted_outside_of_parentheses() {
        let words = |text: &str| Value::Text(text.to_owned()).words();
        assert_eq!(words(" Bash(git add:*, x)  Read,Write "), ["Bash(git add:*, x)", "Read", "Write"]);
        assert_eq!(words("a) b ((c d) e"), ["a)", "b", "((c d) e"]);
        assert!(words(" , ").is_empty());
    }

    #[test]
    fn lines_are_enough_where_it_is_no_yaml() {
        let front = by_lines("name: \"a\"\nno key\n: x\nb c: d\ndescription: >-\n  e: f\n\n  g\nname: h");
        assert_eq!((front.text("name"), front.text("description")), (Some("a".to_owned()), Some("e: f g".to_owned())));
        assert_eq!(front.entries.len(), 2);
    }
}
