//! The marks that models and the chat templates of their servers write around text.
//!
//! Each row names the models that write it. Marks are compared without regard to case, and
//! the `｜` and `▁` of some count as `|` and `_`. A pattern of the form `<name>` also matches with
//! attributes, and a pattern that ends in `=` matches a whole tag with any value.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Thinking: begin, end, models. `<reflection>` is not among them, as it may be content.
const THINKING: &[(&str, &str, &str)] = &[
    ("<think>", "</think>", "DeepSeek R1, Qwen 3, GLM, MiniMax and most others"),
    ("<thinking>", "</thinking>", "Claude, Nova"),
    ("<antthinking>", "</antthinking>", "Claude"),
    ("<thought>", "</thought>", "EXAONE Deep, Gemini"),
    ("<thoughts>", "</thoughts>", "models that were told to"),
    ("<reasoning>", "</reasoning>", "models trained with GRPO"),
    ("<seed:think>", "</seed:think>", "Seed-OSS"),
    ("<longcat_think>", "</longcat_think>", "LongCat"),
    ("[THINK]", "[/THINK]", "Magistral"),
    ("◁think▷", "◁/think▷", "Kimi-VL"),
    ("<|begin_of_thought|>", "<|end_of_thought|>", "OpenThinker, Sky-T1"),
    ("<|begin_of_thinking|>", "<|end_of_thinking|>", "DeepSeek"),
    ("<|START_THINKING|>", "<|END_THINKING|>", "Command A"),
    ("<|inner_prefix|>", "<|inner_suffix|>", "Apertus"),
    ("<|channel>thought", "<channel|>", "Gemma 4"),
    ("<unused94>", "<unused95>", "MedGemma"),
    ("<|im_start|>think", "<|im_start|>answer", "s1"),
];

/// Tool calls as text: begin, end, models. Without an end, they take the rest of the answer.
const CALLS: &[(&str, &str, &str)] = &[
    ("<tool_call>", "</tool_call>", "Hermes, Qwen, GLM"),
    ("<tool_calls>", "</tool_calls>", "Hunyuan"),
    ("<function_call>", "</function_call>", "Hermes"),
    ("<function_calls>", "</function_calls>", "Claude, Olmo"),
    ("<function=", "</function>", "Llama, Qwen Coder"),
    ("<function name=", "</function>", "MiniCPM"),
    ("<invoke name=", "</invoke>", "Claude, MiniMax"),
    ("<minimax:tool_call>", "</minimax:tool_call>", "MiniMax"),
    ("<seed:tool_call>", "</seed:tool_call>", "Seed-OSS"),
    ("<longcat_tool_call>", "</longcat_tool_call>", "LongCat"),
    ("<start_function_call>", "<end_function_call>", "FunctionGemma"),
    ("<|tool_call>", "<tool_call|>", "Gemma 4"),
    ("[TOOL_CALLS]", "", "Mistral"),
    ("[TOOL_REQUEST]", "[END_TOOL_REQUEST]", "LM Studio"),
    ("<|python_tag|>", "<|eom_id|>", "Llama 3"),
    ("<|tool_calls_begin|>", "<|tool_calls_end|>", "DeepSeek"),
    ("<|tool_call_begin|>", "<|tool_call_end|>", "DeepSeek, Kimi"),
    ("<|DSML|function_calls>", "</|DSML|function_calls>", "DeepSeek"),
    ("<|DSML|tool_calls>", "</|DSML|tool_calls>", "DeepSeek"),
    ("<|DSML|invoke name=", "</|DSML|invoke>", "DeepSeek"),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "Kimi"),
    ("<|START_ACTION|>", "<|END_ACTION|>", "Command A"),
    ("<|tools_prefix|>", "<|tools_suffix|>", "Apertus"),
    ("<|tool_call_start|>", "<|tool_call_end|>", "LFM2"),
    ("<|tool_call|>", "<|/tool_call|>", "Phi 4 mini, Granite"),
    ("<|action_start|>", "<|action_end|>", "InternLM"),
];

/// Begin of a harmony channel that is hidden (gpt-oss): thinking, or a call.
const CHANNELS: &[&str] = &["<|channel|>analysis", "<|channel|>commentary", "<|start|>assistant to="];
/// Begin of the harmony channel that is the answer.
const FINAL_CHANNEL: &str = "<|channel|>final";
/// Ends of a hidden channel.
const CHANNEL_ENDS: &[&str] = &["<|end|>", "<|return|>", "<|call|>"];
/// Marks in front of which a hidden channel ends.
const NEXT_CHANNEL: &[&str] = &["<|start|>", "<|channel|>"];

/// Marks around an answer that follows thinking: begin, end, models.
const ANSWERS: &[(&str, &str, &str)] =
    &[("<answer>", "</answer>", "Hunyuan"), ("<response>", "</response>", "ERNIE, Granite")];

/// Marks of turns, behind which the name of a role may stand, and their models.
const TURNS: &[(&str, &str)] = &[
    ("<|im_start|>", "ChatML, Qwen"),
    ("<start_of_turn>", "Gemma"),
    ("<|turn>", "Gemma 4"),
    ("<|start_header_id|>", "Llama 3"),
    ("<|header_start|>", "Llama 4"),
    ("<|start_of_role|>", "Granite"),
    ("<|start|>", "gpt-oss"),
    ("<|constrain|>", "gpt-oss"),
];
/// Roles, and the format behind `<|constrain|>`.
const ROLES: &[&str] = &["assistant", "model", "user", "system", "tool", "developer", "ipython", "json"];

/// Other control marks that are not of the form `<|name|>`, and their models.
const CONTROL: &[(&str, &str)] = &[
    ("<s>", "Llama 2, Mistral"),
    ("</s>", "Llama 2, Mistral"),
    ("[INST]", "Llama 2, Mistral"),
    ("[/INST]", "Llama 2, Mistral"),
    ("<<SYS>>", "Llama 2"),
    ("<</SYS>>", "Llama 2"),
    ("<bos>", "Gemma"),
    ("<eos>", "Gemma"),
    ("<end_of_turn>", "Gemma"),
    ("<turn|>", "Gemma 4"),
    ("<seed:bos>", "Seed-OSS"),
    ("<seed:eos>", "Seed-OSS"),
    ("[gMASK]", "GLM"),
    ("<sop>", "GLM"),
    ("[e~[", "MiniMax"),
    ("</tool_call>", "Qwen Coder"),
    ("</tool_calls>", "Hunyuan"),
    ("</function_calls>", "Claude"),
];

/// Beginnings of the body of a call. They tell a call within a line from a mark that is spoken of.
const BODIES: &[&str] = &["{", "[{", "to=", "<parameter", "<arg", "</function", "```"];

/// Characters with which marks begin.
pub(super) const MARK_STARTS: [char; 3] = ['<', '[', '◁'];
/// Maximum length of the attributes or the value of a tag, in bytes.
const MAX_ATTRIBUTES: usize = 200;
/// Maximum number of characters of the name in `<|name|>`, and of a tool's name.
const MAX_NAME: usize = 64;

/// Whether more text may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Growing,
}

/// The effect of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Begins hidden text.
    Begin(Hidden),
    /// Ends thinking whose begin was written by the chat template.
    EndOfThinking,
    /// Begins the answer, behind other channels.
    FinalChannel,
    /// Begins an answer that is marked as such behind thinking.
    BeginOfAnswer,
    /// Ends it.
    EndOfAnswer,
    /// None of these.
    Control,
}

/// Text between a begin and an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    /// Thinking, with its end.
    Thinking(&'static str),
    /// A call, with its end.
    Call(&'static str),
    /// A harmony channel.
    Channel,
}

/// A look at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// A mark of that length.
    Mark(Mark, usize),
    /// A part of a mark, or a mark that may become another one.
    Unclear,
    /// No mark.
    Text,
}

/// The fit of a pattern to the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It fits that many bytes.
    Full(usize),
    /// It fits all the text, and goes on.
    Part,
    No,
}

/// A pattern of a mark.
struct Pattern {
    mark: Mark,
    text: &'static str,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    /// The text alone.
    Exact,
    /// A tag, possibly with attributes.
    Tag,
    /// A tag with any value behind the text.
    Value,
    /// The text and a role.
    Turn,
}

/// All patterns by their first two characters.
static PATTERNS: LazyLock<HashMap<(char, char), Vec<Pattern>>> = LazyLock::new(|| {
    let tag = |mark, text| Pattern { mark, text, form: form(text) };
    let exact = |mark, text| Pattern { mark, text, form: Form::Exact };
    let mut patterns = HashMap::<_, Vec<Pattern>>::new();
    let mut add = |pattern: Pattern| {
        let mut characters = pattern.text.chars().map(plain);
        if let (Some(first), Some(second)) = (characters.next(), characters.next()) {
            patterns.entry((first, second)).or_default().push(pattern);
        }
    };
    for (begin, end, _) in THINKING {
        add(tag(Mark::Begin(Hidden::Thinking(end)), begin));
        add(tag(Mark::EndOfThinking, end));
    }
    for (begin, end, _) in CALLS {
        add(tag(Mark::Begin(Hidden::Call(end)), begin));
    }
    for (begin, end, _) in ANSWERS {
        add(exact(Mark::BeginOfAnswer, begin));
        add(exact(Mark::EndOfAnswer, end));
    }
    for begin in CHANNELS {
        add(exact(Mark::Begin(Hidden::Channel), begin));
    }
    add(exact(Mark::FinalChannel, FINAL_CHANNEL));
    for (text, _) in CONTROL {
        add(exact(Mark::Control, text));
    }
    for (text, _) in TURNS {
        add(Pattern { mark: Mark::Control, text, form: Form::Turn });
    }
    patterns
});

/// Looks for a mark at the beginning of a text.
pub(super) fn look_at(text: &str, extent: Extent) -> Look {
    let mut characters = text.chars().map(plain);
    let (Some(first), second) = (characters.next(), characters.next()) else { return Look::Text };
    let Some(second) = second else {
        let may_grow = MARK_STARTS.contains(&first) && extent == Extent::Growing;
        return if may_grow { Look::Unclear } else { Look::Text };
    };
    let patterns = PATTERNS.get(&(first, second)).into_iter().flatten();
    let fits = patterns.map(|pattern| (pattern.mark, pattern.fit(text, extent)));
    let (mut found, mut may_grow) = (None, false);
    for (mark, fit) in fits.chain([(Mark::Control, between_bars(text))]) {
        match fit {
            Fit::Full(length) if found.is_none_or(|(_, longest)| length > longest) => found = Some((mark, length)),
            Fit::Part => may_grow = true,
            Fit::Full(_) | Fit::No => {}
        }
    }
    match found {
        _ if may_grow && extent == Extent::Growing => Look::Unclear,
        Some((mark, length)) => Look::Mark(mark, length),
        None => Look::Text,
    }
}

impl Pattern {
    fn fit(&self, text: &str, extent: Extent) -> Fit {
        match self.form {
            Form::Turn => literal(text, self.text).then(text, |rest| role(rest, extent)),
            form => fit(text, self.text, form),
        }
    }
}

impl Hidden {
    /// Splits a text into the hidden part and the rest behind its end. True if the end was found;
    /// if not, the rest is a part of it.
    pub(super) fn split(self, text: &str, extent: Extent) -> (&str, &str, bool) {
        for (at, _) in text.match_indices(MARK_STARTS) {
            let Some((inside, rest)) = text.split_at_checked(at) else { continue };
            match self.end(rest) {
                Fit::Full(length) => return (inside, rest.get(length..).unwrap_or_default(), true),
                Fit::Part if extent == Extent::Growing => return (inside, rest, false),
                Fit::Part | Fit::No => {}
            }
        }
        (text, "", false)
    }

    fn end(self, text: &str) -> Fit {
        match self {
            // A model may confuse the names.
            Self::Thinking(end) if end.starts_with("</") => {
                let ends = THINKING.iter().map(|(_, end, _)| *end).filter(|end| end.starts_with("</"));
                best(ends.map(|end| fit(text, end, Form::Tag)))
            }
            Self::Call("") => Fit::No,
            Self::Thinking(end) | Self::Call(end) => fit(text, end, form(end)),
            Self::Channel => {
                let next = NEXT_CHANNEL.iter().map(|mark| match literal(text, mark) {
                    Fit::Full(_) => Fit::Full(0),
                    other => other,
                });
                best(CHANNEL_ENDS.iter().map(|end| literal(text, end)).chain(next))
            }
        }
    }

    /// Returns true if `after`, the text behind the begin, shows that the mark is used and not
    /// spoken of: thinking begins a line, and a call within a line has the body of a call. None if
    /// the text must grow first.
    pub(super) fn is_begun(self, after: &str, begins_line: bool, extent: Extent) -> Option<bool> {
        // What takes the rest of the answer needs a body in any place.
        if begins_line && self != Self::Call("") {
            return Some(true);
        }
        if matches!(self, Self::Thinking(_)) {
            return Some(false);
        }
        let body = after.trim_start();
        if body.is_empty() {
            return (extent == Extent::Whole).then_some(true);
        }
        let begins = best(BODIES.iter().map(|begin| literal(body, begin)).chain([named_call(after, extent)]));
        match (begins, look_at(body, extent)) {
            (Fit::Full(_), _) | (_, Look::Mark(..)) => Some(true),
            (Fit::Part, _) | (_, Look::Unclear) if extent == Extent::Growing => None,
            _ => Some(false),
        }
    }
}

/// The fit of a tool's name with the begin of its arguments, possibly on the next line.
fn named_call(text: &str, extent: Extent) -> Fit {
    let rest = text.trim_start_matches(is_name);
    let length = text.len() - rest.len();
    let arguments = rest.trim_start();
    let is_near = arguments.len() == rest.len() || rest.starts_with(['\n', '\r']);
    match arguments.chars().next() {
        _ if length == 0 || length > MAX_NAME || !is_near => Fit::No,
        None if extent == Extent::Growing => Fit::Part,
        None => Fit::Full(length),
        Some(begin) if begin == '{' || begin == '(' || MARK_STARTS.contains(&begin) => Fit::Full(length),
        Some(_) => Fit::No,
    }
}

/// True for a character of a tool's name.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The first full fit, or else a part.
fn best(fits: impl Iterator<Item = Fit>) -> Fit {
    let mut best = Fit::No;
    for fit in fits {
        match fit {
            Fit::Full(_) => return fit,
            Fit::Part => best = fit,
            Fit::No => {}
        }
    }
    best
}

impl Fit {
    fn then(self, text: &str, next: impl FnOnce(&str) -> Self) -> Self {
        let Self::Full(length) = self else { return self };
        match next(text.get(length..).unwrap_or_default()) {
            Self::Full(more) => Self::Full(length + more),
            other => other,
        }
    }
}

fn form(pattern: &str) -> Form {
    match pattern.chars().last() {
        Some('=') => Form::Value,
        Some('>') if !pattern.contains('|') => Form::Tag,
        _ => Form::Exact,
    }
}

fn fit(text: &str, pattern: &str, form: Form) -> Fit {
    match form {
        Form::Exact | Form::Turn => literal(text, pattern),
        Form::Tag => literal(text, pattern.trim_end_matches('>')).then(text, attributes),
        Form::Value => literal(text, pattern).then(text, |rest| inside_of_tag(rest, |value| !value.trim().is_empty())),
    }
}

fn attributes(text: &str) -> Fit {
    match text.chars().next() {
        None => Fit::Part,
        Some(c) if c == '>' || c.is_whitespace() => {
            inside_of_tag(text, |inside| inside.trim().is_empty() || inside.contains('='))
        }
        Some(_) => Fit::No,
    }
}

/// The fit of the rest of a tag on its line.
fn inside_of_tag(text: &str, may_be: impl FnOnce(&str) -> bool) -> Fit {
    let Some(at) = text.find(['>', '<', '\n']) else {
        return if text.len() <= MAX_ATTRIBUTES { Fit::Part } else { Fit::No };
    };
    let is_tag = text.split_at_checked(at).is_some_and(|(inside, end)| end.starts_with('>') && may_be(inside));
    if is_tag && at <= MAX_ATTRIBUTES { Fit::Full(at + 1) } else { Fit::No }
}

fn literal(text: &str, pattern: &str) -> Fit {
    // Some servers write the `▁` of such marks as a space.
    let may_be_spaced = pattern.starts_with("<|");
    let mut rest = text.chars();
    for expected in pattern.chars() {
        match rest.next() {
            None => return Fit::Part,
            Some(' ') if may_be_spaced && expected == '_' => {}
            Some(c) if plain(c) == plain(expected) => {}
            Some(_) => return Fit::No,
        }
    }
    Fit::Full(text.len() - rest.as_str().len())
}

fn plain(c: char) -> char {
    match c {
        '｜' => '|',
        '▁' => '_',
        _ => c.to_ascii_lowercase(),
    }
}

/// The fit of a role's name that stands alone behind the mark of a turn. It may be missing.
fn role(text: &str, extent: Extent) -> Fit {
    let stands_alone = |rest: &str| match rest.chars().next() {
        None => extent == Extent::Whole,
        Some(c) => matches!(c, '\n' | '\r') || MARK_STARTS.contains(&c),
    };
    let mut found = Fit::Full(0);
    for role in ROLES {
        match literal(text, role) {
            Fit::Full(length) if text.get(length..).is_some_and(stands_alone) => return Fit::Full(length),
            Fit::Full(length) if length == text.len() => found = Fit::Part,
            Fit::Part if extent == Extent::Growing => found = Fit::Part,
            _ => {}
        }
    }
    found
}

/// The fit of `<|name|>` or `[|name|]`.
fn between_bars(text: &str) -> Fit {
    let mut rest = text.chars();
    let close = match rest.next() {
        Some('<') => '>',
        Some('[') => ']',
        _ => return Fit::No,
    };
    let bar = match rest.next() {
        None => return Fit::Part,
        Some(bar) if plain(bar) == '|' => bar,
        Some(_) => return Fit::No,
    };
    let mut length = 0;
    loop {
        match rest.next() {
            None => return Fit::Part,
            Some(c) if plain(c) == '|' && length > 0 => break,
            Some(c) if length < MAX_NAME && may_name_a_mark(c, bar) => length += 1,
            Some(_) => return Fit::No,
        }
    }
    match rest.next() {
        None => Fit::Part,
        Some(c) if c == close => Fit::Full(text.len() - rest.as_str().len()),
        Some(_) => Fit::No,
    }
}

fn may_name_a_mark(c: char, bar: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '▁' | '-' | '.' | ':' | '/') || (c == ' ' && bar == '｜')
}

/// All marks, for tests.
#[cfg(test)]
pub(super) fn all() -> Vec<String> {
    let pairs = THINKING.iter().chain(CALLS).chain(ANSWERS).flat_map(|(begin, end, _)| [*begin, *end]);
    let single = CONTROL.iter().chain(TURNS).map(|(mark, _)| *mark);
    let harmony = CHANNELS.iter().chain(CHANNEL_ENDS).chain([&FINAL_CHANNEL]).copied();
    let patterns = pairs.chain(single).chain(harmony).filter(|mark| !mark.is_empty());
    patterns
        .map(|mark| if mark.ends_with('=') && !mark.ends_with("to=") { format!("{mark}x>") } else { mark.to_owned() })
        .collect()
}
