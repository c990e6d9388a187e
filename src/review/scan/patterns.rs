//! Imitated markers: chat templates, the program's own frames, a ready-made verdict, a typed
//! approval, a setting that weakens the gate. Those quoted as a warning are left alone.

use std::sync::LazyLock;

use regex::Regex;

use super::Hit;
use crate::review::plain_text::PlainText;
use crate::review::text_context::Context;

const ROLE: &str = "It imitates the marks by which a model tells who speaks.";
const APPROVAL: &str = "It imitates an approval or a verdict.";
const REACH: &str = "It holds a setting that weakens the gate.";

/// Imitated markers by rule and meaning.
const MARKERS: &[(&str, &str, &[&str])] = &[
    (
        "role",
        ROLE,
        &[
            r"<\|\s*(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end|begin_of_text|eot_id|start_header_id|end_header_id|channel|message|start|return|fim_\w+)\s*\|>",
            r"\[/?inst\]|<</?sys>>|</?start_of_turn>|<end_of_turn>|\[/?system_prompts?\]|\[/?available_tools\]",
            r"<\s*/?\s*(?:untrusted|context|system|system[-_ ]?(?:prompt|message|reminder)|instructions?|assistant|developer|function_calls|tool_result)\b[^>\n]{0,80}>",
            r"(?m)^[\s>*#\[(-]{0,12}(?:system|developer|admin|root)(?: (?:message|prompt|notice|note|override|instruction|update|alert))?[\])*\s]{0,4}:[^\n]{0,200}?\b(?:you|your|must|ignore|disregard|approve|approved|add|override|comply|grant|disable|enable|send|install|execute|run|obey|new|skill|policy|reviewer)\b",
            r"(?m)^#{2,4} ?(?:system|system prompt|system message|new instructions?|instruction override)\s*:?\s*$",
            r"(?m)^[-=*]{3,} ?(?:end|begin|start) (?:of )?(?:the )?(?:skill|document|file|untrusted|data|diff|proposal|user input|context|instructions|system)\b[^\n]{0,30}$",
        ],
    ),
    (
        "approval",
        APPROVAL,
        &[
            r#"["']?verdict["']?\s*[:=]\s*["']?(?:safe|approved?|pass(?:ed)?|ok|clean)\b"#,
            r"/(?:approve|yes|remember|review)\s+#?\d+\b(?:\s+[0-9a-f]{8,})?",
            r"\b(?:approved|reviewed|signed[- ]off|authori[sz]ed|cleared)[- ]by\s*:\s*\S",
            r"\b(?:review(?:er)?|gate|scan|taint|approval|security|injection scan)(?: (?:status|result|verdict|outcome|check))?\s*[:=]\s*(?:safe|approved|passed|clean|trusted|none found|no findings|ok)\b",
        ],
    ),
    ("reach", REACH, &[r#"\b(?:tainted_)?review(?:_mode)?\s*=\s*["']?(?:none|ai|off|auto)\b"#]),
];

/// Finds all imitated markers: chat templates, the program's own frames, a ready-made verdict, a
/// typed approval.
pub(super) fn markers(view: &PlainText, context: &Context<'_>) -> Vec<Hit> {
    static COMPILED: LazyLock<Vec<Pattern>> = LazyLock::new(|| compiled(MARKERS));
    let mut hits = matches(&COMPILED, view, context);
    hits.retain(|hit| !context.is_named(&hit.at));
    hits
}

/// Rule, meaning and expression.
type Pattern = (&'static str, &'static str, Regex);

/// Compiles patterns. A test ensures that all are valid.
fn compiled(groups: &[(&'static str, &'static str, &[&str])]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for (rule, says, rows) in groups {
        for row in *rows {
            let pattern = Regex::new(row);
            debug_assert!(pattern.is_ok(), "a pattern is not valid: {row}");
            patterns.extend(pattern.ok().map(|pattern| (*rule, *says, pattern)));
        }
    }
    patterns
}

/// Returns the matches of the patterns in a view, except those quoted as a warning.
fn matches(patterns: &[Pattern], view: &PlainText, context: &Context<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rule, says, pattern) in patterns {
        for found in pattern.find_iter(&view.text) {
            // The match may include the closing quotation mark.
            let end = found.start() + found.as_str().trim_end_matches(['`', '"', '\'', ')', '\n', ' ']).len();
            let at = view.origin(found.start())..view.origin(end);
            if !context.is_warning(&at) {
                hits.push(Hit { rule, at, says });
            }
        }
    }
    hits
}
