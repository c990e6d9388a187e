//! Effects of a change: what the text of a skill newly makes the assistant do.
//!
//! A description, not a verdict: each effect has a kind, a concrete object (a host, a program, a
//! file, or the words themselves) and its place. Only what the accepted version does not contain is
//! new. Effects are grouped by kind, the gravest first, so that the first lines of the list say
//! what matters. Text is read without its disguises ([`plain_text`](super::plain_text)), in several
//! languages, by small lexicons of verbs and objects in combination.
//!
//! The list is made by this program alone, is stored with the proposal, and is covered by the
//! digest that approves it. An effect that is not found may still exist: the whole diff follows the
//! list.

mod addresses;
mod code;
mod lexicon;
mod sentence;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoEnumIterator, IntoStaticStr};

use super::diff;
use super::plain_text::{PlainText, skeleton, split};
use super::reveal::reveal;
use super::text_context::Context;
use crate::skill::{MAIN, SkillFolder, manifest};
use crate::text::{one_line, shorten};

pub(super) use addresses::hosts_in;
pub use addresses::{destination, destinations_in};
pub(super) use code::is_script;

/// The maximum number of effects that are stored, and of objects of a kind that are displayed.
const MOST: usize = 400;
const MOST_SHOWN: usize = 4;
/// The maximum length of an object in characters.
const LONGEST: usize = 80;

/// The kind of an effect, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumIter, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum EffectKind {
    /// Sends something, or names a host or recipient.
    Sends,
    /// Asks for a secret, or reads one.
    Secret,
    /// Deletes something.
    Deletes,
    /// Grants access, or switches a protection off.
    Access,
    /// Overrides rules, or gives another role.
    Overrides,
    /// Does what a text from elsewhere says.
    Obeys,
    /// Writes itself into other skills or notes.
    Copies,
    /// Takes something else than a yes for one.
    Assumes,
    /// Runs a program or script.
    Runs,
    /// Keeps something from the person, or skips a question.
    Quiet,
    /// Spends or moves money.
    Money,
    /// Applies again and again.
    Standing,
    /// Writes a file.
    Writes,
    /// Reads a file.
    Reads,
    /// Uses a tool.
    Tools,
}

/// An effect with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The kind.
    pub kind: EffectKind,
    /// The concrete object, on one line, with hidden characters revealed.
    pub object: String,
    /// The file.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// For a standing order: whether something is done each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts: bool,
}

/// The effects of a change, ordered by kind and place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effects(Vec<Effect>);

impl EffectKind {
    /// Returns the stored word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns whether a change that newly does this waits for the owner by itself.
    pub fn is_dangerous(self) -> bool {
        !matches!(self, Self::Standing | Self::Writes | Self::Reads | Self::Tools)
    }

    /// Returns the word with which the owner approves a change that newly does this.
    fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Sends => "sends",
            Self::Secret => "secret",
            Self::Deletes => "deletes",
            Self::Access => "access",
            Self::Runs => "runs",
            Self::Standing => "always",
            _ => return None,
        })
    }
}

impl Effects {
    /// Returns what `after` does and `before` does not.
    pub fn of_change(before: Option<&SkillFolder>, after: Option<&SkillFolder>) -> Self {
        let Some(after) = after else { return Self::default() };
        // A script counts as a program that is run, unless it was there as it is.
        let mut known: BTreeSet<Identity> = before
            .map(|before| all(before, before).into_iter().map(|(identity, _)| identity).collect())
            .unwrap_or_default();
        let none = SkillFolder::default();
        let found = all(after, before.unwrap_or(&none)).into_iter();
        let mut new: Vec<Effect> =
            found.filter(|(identity, _)| known.insert(identity.clone())).map(|(_, effect)| effect).collect();
        new.sort_by_key(|effect| (effect.kind, effect.path != MAIN));
        new.truncate(MOST);
        Self(new)
    }

    /// Adds what the name of a new skill says: it stands in every prompt.
    pub fn with_name(mut self, name: &str) -> Self {
        self.0.extend(of_text("name", name, false).into_iter().map(|(_, effect)| effect));
        self.0.sort_by_key(|effect| effect.kind);
        self
    }

    /// Returns what a text does by itself, such as the description of a tool.
    pub fn of_text(path: &str, text: &str) -> Self {
        let mut seen = BTreeSet::new();
        let found = of_text(path, text, false).into_iter();
        let mut effects: Vec<Effect> =
            found.filter(|(identity, _)| seen.insert(identity.clone())).map(|(_, effect)| effect).collect();
        effects.sort_by_key(|effect| effect.kind);
        effects.truncate(MOST);
        Self(effects)
    }

    /// Returns the effects, the gravest first.
    pub fn iter(&self) -> impl Iterator<Item = &Effect> {
        self.0.iter()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, kind: EffectKind) -> bool {
        self.0.iter().any(|effect| effect.kind == kind)
    }

    /// Returns the word that an approval must repeat: that of the gravest act.
    pub fn word(&self) -> Option<&'static str> {
        let counts = |effect: &&Effect| effect.kind != EffectKind::Standing || effect.acts;
        self.0.iter().filter(counts).find_map(|effect| effect.kind.word())
    }

    /// Returns the kinds in words, the gravest first; what it does each time counts as `always`.
    pub fn in_short(&self) -> Vec<&'static str> {
        let mut kinds: Vec<&str> = Vec::new();
        for effect in &self.0 {
            let kind = if effect.acts { "always" } else { effect.kind.as_str() };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Returns whether the change waits for the owner under every policy.
    pub fn waits(&self) -> bool {
        self.0.iter().any(|effect| effect.kind.is_dangerous() || effect.acts)
    }

    /// Returns whether a folder waits even where the owner's own folders are live at once: it does
    /// more than open an address or run a program.
    pub fn is_suspicious(&self) -> bool {
        use EffectKind::{Access, Assumes, Copies, Deletes, Obeys, Overrides, Quiet, Secret, Sends};
        let lasts = |effect: &&Effect| effect.acts && self.has(Sends) || code::is_unbounded(effect);
        [Overrides, Obeys, Copies, Assumes, Quiet, Access, Deletes, Secret].into_iter().any(|kind| self.has(kind))
            || self.0.iter().find(lasts).is_some()
    }

    /// Returns the kinds with their objects and places, one line each.
    pub fn lines(&self) -> Vec<(EffectKind, String)> {
        let mut groups: BTreeMap<EffectKind, Vec<&Effect>> = BTreeMap::new();
        for effect in &self.0 {
            groups.entry(effect.kind).or_default().push(effect);
        }
        let shown = |effects: &[&Effect]| {
            let mut parts: Vec<String> = effects.iter().take(MOST_SHOWN).map(|effect| effect.shown()).collect();
            let more = effects.len().saturating_sub(MOST_SHOWN);
            parts.extend((more > 0).then(|| format!("and {more} more")));
            parts.join(", ")
        };
        groups.into_iter().map(|(kind, effects)| (kind, shown(&effects))).collect()
    }

    /// Returns the kinds that the change does not touch.
    pub fn untouched(&self) -> impl Iterator<Item = EffectKind> {
        EffectKind::iter().filter(|kind| !self.has(*kind))
    }
}

impl Effect {
    fn shown(&self) -> String {
        if self.path.is_empty() {
            self.object.clone()
        } else {
            format!("{} ({}:{})", self.object, self.path, self.line)
        }
    }
}

/// Identity of an effect: its kind and its whole object, however it is written.
type Identity = (EffectKind, String);

fn identity(kind: EffectKind, object: &str) -> Identity {
    let words = object.to_lowercase().split_whitespace().map(skeleton).collect::<Vec<_>>().join(" ");
    (kind, words)
}

/// Returns all effects of a skill's files. A script that `base` does not have as it is counts.
fn all(folder: &SkillFolder, base: &SkillFolder) -> Vec<(Identity, Effect)> {
    let mut effects = Vec::new();
    for (path, bytes) in folder.files() {
        let is_script = is_script(path, bytes);
        if is_script && base.get(path) != Some(bytes) {
            let object = if base.get(path).is_some() { format!("{path} as changed") } else { path.to_owned() };
            let effect =
                Effect { kind: EffectKind::Runs, object: shown(&object), path: shown(path), line: 1, acts: false };
            effects.push((identity(EffectKind::Runs, &object), effect));
        }
        if let Some(text) = diff::text(bytes) {
            let is_own = |effect: &Effect| {
                let ends = format!("/{}", effect.object);
                matches!(effect.kind, EffectKind::Reads | EffectKind::Writes)
                    && folder.files().any(|(own, _)| own == effect.object || own.ends_with(&ends))
            };
            let of_file = of_text(path, text, code::is_shell(path, bytes));
            let of_prompt = if path == MAIN { of_prompt_lines(text, &of_file) } else { Vec::new() };
            effects.extend(of_file.into_iter().chain(of_prompt).filter(|(_, effect)| !is_own(effect)));
        }
    }
    effects
}

/// Returns the effects of the name and the description as they appear in a prompt, of kinds that
/// the file as it is written does not have: front matter can encode a letter without writing it.
fn of_prompt_lines(main: &str, known: &[(Identity, Effect)]) -> Vec<(Identity, Effect)> {
    let Ok((manifest, _)) = manifest::read(main, "") else { return Vec::new() };
    let prompt = format!("{}\n\n{}", manifest.name, manifest.description);
    let is_new = |found: &(Identity, Effect)| !known.iter().any(|(_, known)| known.kind == found.1.kind);
    let found = of_text(MAIN, &prompt, false).into_iter().filter(is_new);
    found.map(|(identity, effect)| (identity, Effect { line: 1, ..effect })).collect()
}

/// Returns all effects of a text, in order.
fn of_text(path: &str, text: &str, is_shell: bool) -> Vec<(Identity, Effect)> {
    let mut recipients = addresses::recipients(text);
    recipients.sort_by_key(|(at, _)| at.start);
    let mut sums = addresses::sums(text);
    sums.sort_by_key(|(at, _)| at.start);
    let paths = code::paths(text, &recipients);
    let places = |found: &[(Range<usize>, String)]| found.iter().map(|(at, _)| at.clone()).collect::<Vec<_>>();
    let known = sentence::Known { addresses: &places(&recipients), paths: &paths, sums: &places(&sums) };
    let mut hits = sentence::read(text, &split(&PlainText::of(text)), &known);
    hits.extend(code::read(text, &Context::of(text), is_shell));
    let found = [(EffectKind::Sends, recipients), (EffectKind::Money, sums)];
    hits.extend(
        found
            .into_iter()
            .flat_map(|(kind, found)| found.into_iter().map(move |(at, object)| sentence::Hit { kind, at, object })),
    );
    hits.sort_by_key(|hit| hit.at.start);
    let is_act = |hit: &&sentence::Hit| hit.kind != EffectKind::Standing;
    let acting: BTreeSet<usize> = hits.iter().filter(is_act).map(|hit| paragraph(text, hit.at.start)).collect();
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut effect = |hit: sentence::Hit| {
        let words = if hit.object.is_empty() { text.get(hit.at.clone()).unwrap_or_default() } else { &hit.object };
        let acts = hit.kind == EffectKind::Standing && acting.contains(&paragraph(text, hit.at.start));
        let effect =
            Effect { kind: hit.kind, object: shown(words), path: shown(path), line: lines.of(hit.at.start), acts };
        (identity(hit.kind, words), effect)
    };
    hits.into_iter().map(&mut effect).collect()
}

/// Returns the start of the paragraph around a position.
fn paragraph(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind("\n\n")).unwrap_or(0)
}

fn shown(words: &str) -> String {
    shorten(one_line(&reveal(words)).trim(), LONGEST)
}

/// Counts the lines of a text, for growing positions.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> usize {
        self.line += self.text.get(self.at..at).map_or(0, |part| part.matches('\n').count());
        self.at = self.at.max(at);
        self.line
    }
}

#[cfg(test)]
mod tests;
