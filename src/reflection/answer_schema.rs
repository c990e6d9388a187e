//! Reads a reflection in a model's answer, wherever its object stands.
//!
//! An answer without a reflection is requested again. An invalid proposed action affects only
//! itself: it is stored with its error, so that the next reflection can be told, and never
//! executed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::json_answer::{self, AnswerProblem};
use crate::skill::{MAIN, name as names};
use crate::store::ActionKind;
use crate::text::{one_line, shorten};
use crate::wording::reflection as says;

/// Maximum number of entries in a list, and of characters in an entry and in a title.
const ENTRIES: usize = 20;
const ENTRY: usize = 600;
const TITLE: usize = 100;
/// Maximum number of characters in a reason and in a text.
const WHY: usize = 2_000;
const TEXT: usize = 8_000;
/// Maximum number of actions; more are ignored.
const ACTIONS: usize = 100;
/// Maximum number of characters kept of an invalid action.
const MALFORMED: usize = 2_000;

/// A reflection as a model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionForm {
    /// Title of a few words.
    pub title: String,
    /// Observations.
    pub observations: Vec<String>,
    /// Recurring patterns.
    pub patterns: Vec<String>,
    /// What the person is told, in sentences to them.
    pub tell: Vec<String>,
    /// Proposed actions, in order.
    pub actions: Vec<ProposedAction>,
}

/// A proposed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposedAction {
    /// Valid action.
    Valid(Action),
    /// Invalid action.
    Invalid {
        /// Given kind, if valid.
        kind: Option<ActionKind>,
        /// Given title.
        title: String,
        /// Given JSON, truncated.
        given: String,
        /// Reason why the action is invalid.
        error: String,
    },
}

/// A valid action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Kind of the action.
    pub kind: ActionKind,
    /// Title in one line.
    pub title: String,
    /// Other fields.
    pub payload: Payload,
}

/// Fields of an action besides its kind and title; blank if they do not apply to its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Payload {
    /// Reason, for the owner.
    pub why: String,
    /// Name of the skill.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub skill: String,
    /// Files of the skill; a file without content is removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// Path of the note.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Text to remember, setting to change, or task to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Path in the skill.
    pub path: String,
    /// Whole content; null removes the file. The key is required.
    #[serde(deserialize_with = "Option::deserialize")]
    pub content: Option<String>,
}

/// Keys of a reflection, without those that an action has as well.
const KEYS: &[&str] = &["observations", "patterns", "proposed_actions"];

/// Fields that every action has; the rest is its [`Payload`].
#[derive(Deserialize)]
struct ActionHeader {
    kind: String,
    title: String,
    #[serde(flatten)]
    payload: serde_json::Map<String, Value>,
}

/// Reads an answer. A reflection without a title is called by its first entry.
///
/// # Errors
/// If the answer holds no reflection, or none that says something.
pub fn read(answer: &str) -> Result<ReflectionForm, AnswerProblem> {
    let fields = json_answer::object(answer, KEYS)?;
    let actions = json_answer::items(&fields, "proposed_actions");
    let mut form = ReflectionForm {
        title: shorten(&one_line(&json_answer::string(&fields, "title")), TITLE),
        observations: tidy(&json_answer::strings(&fields, "observations")),
        patterns: tidy(&json_answer::strings(&fields, "patterns")),
        tell: tidy(&json_answer::strings(&fields, "tell")),
        actions: actions.into_iter().take(ACTIONS).map(proposed).collect(),
    };
    let first = form.observations.iter().chain(&form.patterns).next().ok_or(AnswerProblem::OtherKeys)?;
    if form.title.is_empty() {
        form.title = shorten(first, TITLE);
    }
    Ok(form)
}

fn tidy(entries: &[String]) -> Vec<String> {
    let entries = entries.iter().map(|entry| shorten(&one_line(entry), ENTRY));
    entries.filter(|entry| !entry.is_empty()).take(ENTRIES).collect()
}

fn proposed(given: Value) -> ProposedAction {
    match action(&given) {
        Ok(action) => ProposedAction::Valid(action),
        Err(error) => {
            let word = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
            ProposedAction::Invalid {
                kind: word("kind").parse().ok(),
                title: shorten(&one_line(word("title")), TITLE),
                given: shorten(&given.to_string(), MALFORMED),
                error,
            }
        }
    }
}

fn action(given: &Value) -> Result<Action, String> {
    let header = ActionHeader::deserialize(given).map_err(|_| says::ACTION_UNNAMED.to_owned())?;
    let kind: ActionKind = header.kind.parse().map_err(|_| says::ACTION_UNKNOWN.to_owned())?;
    let title = shorten(&one_line(&header.title), TITLE);
    if title.is_empty() {
        return Err(says::ACTION_UNNAMED.to_owned());
    }
    let fields = header.payload.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let payload = Payload::deserialize(Value::Object(fields)).map_err(|_| says::ACTION_FIELDS.to_owned())?;
    let payload = Payload {
        why: shorten(payload.why.trim(), WHY),
        text: shorten(payload.text.trim(), TEXT),
        skill: payload.skill.trim().to_owned(),
        note: payload.note.trim().to_owned(),
        ..payload
    };
    check(kind, &payload).map_or(Ok(Action { kind, title, payload }), |error| Err(error.to_owned()))
}

/// Returns the reason if an action of that kind is incomplete.
fn check(kind: ActionKind, payload: &Payload) -> Option<&'static str> {
    let has_valid_name = names::is_valid(&payload.skill);
    match kind {
        ActionKind::CreateSkill | ActionKind::ChangeSkill if !has_valid_name => Some(says::ACTION_NO_SKILL),
        ActionKind::CreateSkill | ActionKind::ChangeSkill if payload.files.is_empty() => Some(says::ACTION_NO_FILES),
        ActionKind::CreateSkill if !is_whole(&payload.files) => Some(says::ACTION_NO_MAIN),
        ActionKind::PromoteNote if payload.note.is_empty() => Some(says::ACTION_NO_NOTE),
        ActionKind::PromoteNote if !payload.skill.is_empty() && !has_valid_name => Some(says::ACTION_NO_SKILL),
        ActionKind::Memory | ActionKind::Configuration if payload.text.is_empty() => Some(says::ACTION_NO_TEXT),
        _ => None,
    }
}

/// Returns true if these are the files of a new skill: one of them is the main file, and none is
/// removed.
fn is_whole(files: &[File]) -> bool {
    files.iter().any(|file| file.path == MAIN) && files.iter().all(|file| file.content.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json_answer::grammar;
    use proptest::prelude::*;
    use serde_json::json;

    fn with(actions: &Value) -> String {
        json!({ "title": "A day", "observations": ["It rained."], "patterns": [], "proposed_actions": actions })
            .to_string()
    }

    fn only(action: &Value) -> ProposedAction {
        read(&with(&json!([action]))).unwrap().actions.remove(0)
    }

    #[test]
    fn a_reflection_is_read_whatever_stands_around_it() {
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
            format!("Sure! {plain} Anything else?"),
            format!("<think>{{it rained}}</think>{plain}"),
            format!("```json\n{plain}"),
            format!("[{plain}]"),
            json!({ "title": "A day", "observations": "It rained.", "patterns": null, "mood": "wet" }).to_string(),
        ] {
            assert_eq!(read(&same).as_ref(), Ok(&whole), "{same}");
        }
    }

    #[test]
    fn an_answer_without_a_reflection_is_rejected() {
        for broken in [
            String::new(),
            "I could not look back on this day.".to_owned(),
            "{}".to_owned(),
            "[\"A day\", [], [], []]".to_owned(),
            json!({ "title": "x", "observations": [], "patterns": [], "proposed_actions": [] }).to_string(),
            json!({ "title": "x", "observations": [{}], "patterns": null }).to_string(),
            with(&json!([])).replace("]}", "]"),
        ] {
            assert!(read(&broken).is_err(), "{broken}");
        }
        let untitled = json!({ "title": " ", "observations": ["It rained.", "It stopped."] }).to_string();
        assert_eq!(read(&untitled).unwrap().title, "It rained.", "the first entry names it");
        let many = with(&json!(vec![json!({ "kind": "other", "title": "x" }); ACTIONS + 1]));
        assert_eq!(read(&many).unwrap().actions.len(), ACTIONS);
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
            (json!({ "kind": "other", "title": "Anything", "priority": "medium", "note": null }), ActionKind::Other),
        ] {
            let ProposedAction::Valid(read) = only(&action) else { panic!("{action}") };
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
        ] {
            let form = read(&with(&json!([bad, { "kind": "other", "title": "Fine" }]))).unwrap();
            assert!(matches!(&form.actions[0], ProposedAction::Invalid { error, .. } if !error.is_empty()), "{bad}");
            assert!(matches!(&form.actions[1], ProposedAction::Valid(_)), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_complete_reflection_is_always_understood((before, after) in grammar::around(), bad in "(null|\\{\\}|\\[\\])") {
            let action = "{\"kind\": \"other\", \"title\": \"x\", \"text\": \"y\", \"priority\": \"medium\"}";
            let answer = format!(
                "{before}{{\"title\": \"A day\", \"observations\": [{bad}, \"It rained.\"], \"patterns\": {bad}, \
                 \"proposed_actions\": [{action}]}}{after}"
            );
            let form = read(&answer).unwrap();
            prop_assert_eq!((form.title.as_str(), &form.observations[..]), ("A day", &["It rained.".to_owned()][..]), "{}", answer);
            prop_assert!(matches!(&form.actions[..], [ProposedAction::Valid(_)]), "{}", answer);
        }

        #[test]
        fn no_answer_breaks_the_reader_and_what_is_read_is_bounded(
            answer in "(?s).{0,200}",
            title in ".{0,200}",
            entries in prop::collection::vec("(?s).{0,900}", 0..40),
        ) {
            let _ = read(&answer);
            let given = json!({ "title": title, "observations": entries, "patterns": entries, "proposed_actions": [answer] });
            if let Ok(form) = read(&given.to_string()) {
                prop_assert!(form.title.chars().count() <= TITLE && !form.title.contains('\n'));
                for list in [&form.observations, &form.patterns] {
                    prop_assert!(list.len() <= ENTRIES);
                    prop_assert!(list.iter().all(|entry| !entry.is_empty() && entry.chars().count() <= ENTRY && !entry.contains('\n')));
                }
                prop_assert!(form.actions.iter().all(|action| matches!(action, ProposedAction::Invalid { .. })), "a word is no action");
            }
        }
    }
}
