//! What counts as an answer: one JSON object in a strict form, and nothing that has to be guessed.
//!
//! The object may stand alone or in the one fenced block of the answer; it is not fished for in
//! prose. An answer that is none is asked for again. A proposed action that makes no sense spoils
//! only itself: it is kept with its error, so that the next reflection can be told, and never done.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::skill::{MAIN, name as names};
use crate::text::{one_line, shorten};
use crate::wording::reflection as says;

/// The most entries of a list, and characters of an entry and of a title.
const ENTRIES: usize = 20;
const ENTRY: usize = 600;
const TITLE: usize = 100;
/// The most characters of a reason and of a text.
const WHY: usize = 2_000;
const TEXT: usize = 8_000;
/// The most actions: an answer with more is none.
const ACTIONS: usize = 100;
/// What is kept of an action that makes no sense.
const MALFORMED: usize = 2_000;

/// A reflection as a model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionForm {
    /// A few words.
    pub title: String,
    /// What was seen.
    pub observations: Vec<String>,
    /// What comes back again and again.
    pub patterns: Vec<String>,
    /// What is proposed, in order.
    pub actions: Vec<Proposed>,
}

/// A proposed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposed {
    /// It makes sense.
    Good(Action),
    /// It does not.
    Bad {
        /// What was given as its kind, if that is one.
        kind: Option<ActionKind>,
        /// What was given as its title.
        title: String,
        /// What was given, cut.
        given: String,
        /// Why it makes no sense.
        error: String,
    },
}

/// What a reflection may propose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionKind {
    /// A skill that there is not.
    CreateSkill,
    /// Another content of one.
    ChangeSkill,
    /// A note that becomes a skill.
    PromoteNote,
    /// Something to remember, or to remember otherwise.
    Memory,
    /// Another setting.
    Configuration,
    /// Anything else.
    Other,
}

impl ActionKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::CreateSkill, Self::ChangeSkill, Self::PromoteNote, Self::Memory, Self::Configuration, Self::Other];

    /// The stored word, which is also the one that the model writes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CreateSkill => "create_skill",
            Self::ChangeSkill => "change_skill",
            Self::PromoteNote => "promote_note",
            Self::Memory => "memory",
            Self::Configuration => "configuration",
            Self::Other => "other",
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether the program does it, within its limits.
    pub fn is_done(self) -> bool {
        self.is_for_the_gate() || self == Self::Memory
    }

    /// Whether it would change a skill, and so could go to the gate.
    pub fn is_for_the_gate(self) -> bool {
        matches!(self, Self::CreateSkill | Self::ChangeSkill | Self::PromoteNote)
    }
}

/// An action that makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it is.
    pub kind: ActionKind,
    /// One line.
    pub title: String,
    /// Everything else.
    pub payload: Payload,
}

/// What is said of an action besides its kind and title; blank where that is not for its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Payload {
    /// Why, for the owner.
    pub why: String,
    /// The skill.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub skill: String,
    /// Its files; without a content one is taken out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// The note's path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What to remember, to set, to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its path in the skill.
    pub path: String,
    /// All of it; null takes it out. The key has to be there.
    #[serde(deserialize_with = "Option::deserialize")]
    pub content: Option<String>,
}

/// The answer as it stands in JSON. Every key has to be there.
#[derive(Deserialize)]
struct ReflectionAnswer {
    title: String,
    observations: Vec<String>,
    patterns: Vec<String>,
    proposed_actions: Vec<Value>,
}

/// What every action has; the rest is its [`Payload`].
#[derive(Deserialize)]
struct Named {
    kind: String,
    title: String,
    #[serde(flatten)]
    payload: serde_json::Map<String, Value>,
}

/// Reads an answer; `None` if it is none, or says nothing.
pub fn read(answer: &str) -> Option<ReflectionForm> {
    let answer: ReflectionAnswer = serde_json::from_str(object(answer)?).ok()?;
    if answer.proposed_actions.len() > ACTIONS {
        return None;
    }
    let form = ReflectionForm {
        title: shorten(&one_line(&answer.title), TITLE),
        observations: tidy(&answer.observations),
        patterns: tidy(&answer.patterns),
        actions: answer.proposed_actions.into_iter().map(proposed).collect(),
    };
    let says_something = !form.observations.is_empty() || !form.patterns.is_empty();
    (!form.title.is_empty() && says_something).then_some(form)
}

/// The answer itself if it is an object, else what stands in its one fenced block. No line of JSON
/// begins with a fence.
fn object(answer: &str) -> Option<&str> {
    let bare = answer.trim();
    if bare.starts_with('{') {
        return Some(bare);
    }
    let mut fences = bare.match_indices("```").map(|(at, _)| at).filter(|at| begins_line(bare, *at));
    let (open, close) = (fences.next()?, fences.next()?);
    if fences.next().is_some() {
        return None;
    }
    let block = bare.get(open + 3..close)?;
    let (language, object) = block.split_once('\n')?;
    let object = object.trim();
    (matches!(language.trim(), "" | "json") && object.starts_with('{')).then_some(object)
}

fn begins_line(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

fn tidy(entries: &[String]) -> Vec<String> {
    let entries = entries.iter().map(|entry| shorten(&one_line(entry), ENTRY));
    entries.filter(|entry| !entry.is_empty()).take(ENTRIES).collect()
}

fn proposed(given: Value) -> Proposed {
    match action(&given) {
        Ok(action) => Proposed::Good(action),
        Err(error) => {
            let word = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
            Proposed::Bad {
                kind: ActionKind::parse(word("kind")),
                title: shorten(&one_line(word("title")), TITLE),
                given: shorten(&given.to_string(), MALFORMED),
                error,
            }
        }
    }
}

fn action(given: &Value) -> Result<Action, String> {
    let named = Named::deserialize(given).map_err(|_| says::ACTION_UNNAMED.to_owned())?;
    let kind = ActionKind::parse(&named.kind).ok_or_else(|| says::ACTION_UNKNOWN.to_owned())?;
    let title = shorten(&one_line(&named.title), TITLE);
    if title.is_empty() {
        return Err(says::ACTION_UNNAMED.to_owned());
    }
    let payload = Payload::deserialize(Value::Object(named.payload)).map_err(|_| says::ACTION_FIELDS.to_owned())?;
    let payload = Payload {
        why: shorten(payload.why.trim(), WHY),
        text: shorten(payload.text.trim(), TEXT),
        skill: payload.skill.trim().to_owned(),
        note: payload.note.trim().to_owned(),
        ..payload
    };
    check(kind, &payload).map_or(Ok(Action { kind, title, payload }), |error| Err(error.to_owned()))
}

/// What an action of that kind lacks.
fn check(kind: ActionKind, payload: &Payload) -> Option<&'static str> {
    let named = names::is_valid(&payload.skill);
    match kind {
        ActionKind::CreateSkill | ActionKind::ChangeSkill if !named => Some(says::ACTION_NO_SKILL),
        ActionKind::CreateSkill | ActionKind::ChangeSkill if payload.files.is_empty() => Some(says::ACTION_NO_FILES),
        ActionKind::CreateSkill if !is_whole(&payload.files) => Some(says::ACTION_NO_MAIN),
        ActionKind::PromoteNote if payload.note.is_empty() => Some(says::ACTION_NO_NOTE),
        ActionKind::PromoteNote if !payload.skill.is_empty() && !named => Some(says::ACTION_NO_SKILL),
        ActionKind::Memory | ActionKind::Configuration if payload.text.is_empty() => Some(says::ACTION_NO_TEXT),
        _ => None,
    }
}

/// Whether these are the files of a new skill: one of them is its main one, and nothing is to be
/// taken out.
fn is_whole(files: &[File]) -> bool {
    files.iter().any(|file| file.path == MAIN) && files.iter().all(|file| file.content.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn with(actions: &Value) -> String {
        json!({ "title": "A day", "observations": ["It rained."], "patterns": [], "proposed_actions": actions })
            .to_string()
    }

    fn only(action: &Value) -> Proposed {
        read(&with(&json!([action]))).unwrap().actions.remove(0)
    }

    #[test]
    fn an_object_counts_alone_or_in_the_one_fenced_block() {
        let plain = with(&json!([]));
        let whole = read(&plain).unwrap();
        assert_eq!(
            (whole.title.as_str(), whole.observations.as_slice()),
            ("A day", ["It rained.".to_owned()].as_slice())
        );
        for same in [
            format!("  {plain}\n"),
            format!("```json\n{plain}\n```"),
            format!("```\n{plain}\n```\n"),
            format!("Here it is:\n\n```json\n{plain}\n```\nThat was all."),
        ] {
            assert_eq!(read(&same), Some(whole.clone()), "{same}");
        }
    }

    #[test]
    fn whatever_would_have_to_be_guessed_is_no_answer() {
        let good = with(&json!([]));
        for broken in [
            String::new(),
            "I could not look back on this day.".to_owned(),
            format!("Sure! {good}"),
            format!("{good} Anything else?"),
            format!("{good}{good}"),
            format!("```json\n{good}\n```\n```json\n{good}\n```"),
            format!("```json\n{good}"),
            format!("```python\n{good}\n```"),
            format!("[{good}]"),
            "{}".to_owned(),
            "[\"A day\", [], [], []]".to_owned(),
            json!({ "title": "x", "observations": ["a"], "patterns": [] }).to_string(),
            json!({ "title": "x", "observations": [], "patterns": [], "proposed_actions": [] }).to_string(),
            json!({ "title": " ", "observations": ["a"], "patterns": [], "proposed_actions": [] }).to_string(),
            json!({ "title": 3, "observations": ["a"], "patterns": [], "proposed_actions": [] }).to_string(),
            json!({ "title": "x", "observations": "a", "patterns": [], "proposed_actions": [] }).to_string(),
            json!({ "title": "x", "observations": ["a"], "patterns": [], "proposed_actions": {} }).to_string(),
            good.replacen("{", "{\"title\": \"another\", ", 1),
            with(&json!(vec![json!({ "kind": "other", "title": "x" }); ACTIONS + 1])),
        ] {
            assert_eq!(read(&broken), None, "{broken}");
        }
    }

    #[test]
    fn each_kind_of_action_is_read() {
        let main = json!([{ "path": "SKILL.md", "content": "---\nname: tea\n```\n" }]);
        for (action, kind) in [
            (
                json!({ "kind": "create_skill", "title": "Tea", "why": "asked twice", "skill": "tea", "files": main }),
                ActionKind::CreateSkill,
            ),
            (
                json!({ "kind": "change_skill", "title": "Tea", "skill": "tea", "files": [{ "path": "a.md", "content": null }] }),
                ActionKind::ChangeSkill,
            ),
            (json!({ "kind": "promote_note", "title": "Tea", "note": "memory/tea.md" }), ActionKind::PromoteNote),
            (json!({ "kind": "memory", "title": "Tea", "text": "likes tea" }), ActionKind::Memory),
            (json!({ "kind": "configuration", "title": "Gap", "text": "a gap of 4h" }), ActionKind::Configuration),
            (json!({ "kind": "other", "title": "Anything" }), ActionKind::Other),
        ] {
            let Proposed::Good(read) = only(&action) else { panic!("{action}") };
            assert_eq!(read.kind, kind);
            let stored = serde_json::to_string(&read.payload).unwrap();
            assert_eq!(serde_json::from_str::<Payload>(&stored).unwrap(), read.payload, "it survives storing");
        }
    }

    #[test]
    fn an_action_that_makes_no_sense_spoils_only_itself() {
        let file = json!([{ "path": "SKILL.md", "content": "x" }]);
        for bad in [
            json!("create a skill for tea"),
            json!(7),
            json!({}),
            json!({ "kind": "create_skill" }),
            json!({ "kind": "skill", "title": "Tea" }),
            json!({ "kind": "other", "title": "  " }),
            json!({ "kind": "create_skill", "title": "Tea", "skill": "../tea", "files": file }),
            json!({ "kind": "create_skill", "title": "Tea", "skill": "tea", "files": [] }),
            json!({ "kind": "create_skill", "title": "Tea", "skill": "tea", "files": [{ "path": "a.md", "content": "x" }] }),
            json!({ "kind": "create_skill", "title": "Tea", "skill": "tea", "files": [{ "path": "SKILL.md", "content": null }] }),
            json!({ "kind": "create_skill", "title": "Tea", "skill": "tea", "files": [{ "path": "SKILL.md" , "content": 7 }] }),
            json!({ "kind": "change_skill", "title": "Tea", "files": file }),
            json!({ "kind": "change_skill", "title": "Tea", "skill": "tea", "files": [{ "path": "SKILL.md" }] }),
            json!({ "kind": "promote_note", "title": "Tea" }),
            json!({ "kind": "memory", "title": "Tea" }),
            json!({ "kind": "other", "title": "Tea", "approve": true }),
        ] {
            let form = read(&with(&json!([bad, { "kind": "other", "title": "Fine" }]))).unwrap();
            assert!(matches!(&form.actions[0], Proposed::Bad { error, .. } if !error.is_empty()), "{bad}");
            assert!(matches!(&form.actions[1], Proposed::Good(_)), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader_and_what_is_read_is_bounded(
            answer in "(?s).{0,200}",
            title in ".{0,200}",
            entries in prop::collection::vec("(?s).{0,900}", 0..40),
        ) {
            let _ = read(&answer);
            let given = json!({ "title": title, "observations": entries, "patterns": entries, "proposed_actions": [answer] });
            if let Some(form) = read(&given.to_string()) {
                prop_assert!(form.title.chars().count() <= TITLE && !form.title.contains('\n'));
                for list in [&form.observations, &form.patterns] {
                    prop_assert!(list.len() <= ENTRIES);
                    prop_assert!(list.iter().all(|entry| !entry.is_empty() && entry.chars().count() <= ENTRY && !entry.contains('\n')));
                }
                prop_assert!(form.actions.iter().all(|action| matches!(action, Proposed::Bad { .. })), "a word is no action");
            }
        }
    }
}
