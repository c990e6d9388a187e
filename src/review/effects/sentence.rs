//! Effects told in prose: combinations of concepts within one sentence.
//!
//! A verb alone is no effect: `delete` needs something that can be deleted, `ignore` needs rules.
//! Most combinations hold in either order, since German and Japanese put the verb last. A denied
//! verb ("never delete the notes") is no effect, unless the denial is turned around.

use std::ops::Range;

use super::EffectKind;
use super::lexicon::{Concept, Mark, marks};
use crate::review::plain_text::PlainWord;

/// An effect with its place in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) kind: EffectKind,
    pub(super) at: Range<usize>,
    /// The concrete object; blank if the words at the place are the object.
    pub(super) object: String,
}

/// Knowledge of a text before its sentences are read, each list in order.
pub(super) struct Known<'a> {
    /// Hosts, mail addresses, phone numbers.
    pub(super) addresses: &'a [Range<usize>],
    /// Files, with their names.
    pub(super) paths: &'a [(Range<usize>, String)],
    /// Sums of money.
    pub(super) sums: &'a [Range<usize>],
}

/// Finds all effects that the sentences of a text tell.
pub(super) fn read(text: &str, words: &[PlainWord], known: &Known<'_>) -> Vec<Hit> {
    let marks = marks(words);
    let mut hits = Vec::new();
    let (mut at, mut from, mut start) = (0, 0, 0);
    while let Some(first) = words.get(at) {
        let rest = words.iter().skip(at).take(LONGEST);
        let end = at + rest.take_while(|word| word.sentence == first.sentence).count();
        let to = from + marks.iter().skip(from).take_while(|mark| mark.at < end).count();
        let until = end.checked_sub(1).and_then(|last| words.get(last)).map_or(text.len(), |last| last.end);
        let sentence = Sentence {
            text,
            words,
            marks: marks.get(from..to).unwrap_or_default(),
            addresses: within(known.addresses, |at| at.start, &(start..until)),
            paths: within(known.paths, |(at, _)| at.start, &(start..until)),
            sums: within(known.sums, |at| at.start, &(start..until)),
            at: start..until,
        };
        sentence.hits(&mut hits);
        (at, from, start) = (end, to, until);
    }
    hits
}

/// The maximum number of words that are read as one sentence.
const LONGEST: usize = 120;

/// Returns those of a sorted list that start in a range.
fn within<'a, T>(list: &'a [T], start: impl Fn(&T) -> usize, at: &Range<usize>) -> &'a [T] {
    let from = list.partition_point(|one| start(one) < at.start);
    let to = list.partition_point(|one| start(one) < at.end);
    list.get(from..to).unwrap_or_default()
}

/// The words of one sentence.
struct Sentence<'a> {
    text: &'a str,
    /// All words of the text.
    words: &'a [PlainWord],
    /// The concepts of this sentence.
    marks: &'a [Mark],
    /// Knowledge of this sentence.
    addresses: &'a [Range<usize>],
    paths: &'a [(Range<usize>, String)],
    sums: &'a [Range<usize>],
    at: Range<usize>,
}

use Concept::*;

impl Sentence<'_> {
    fn hits(&self, hits: &mut Vec<Hit>) {
        let before = hits.len();
        let rules = [
            (EffectKind::Sends, self.sends()),
            (EffectKind::Secret, self.secret()),
            (EffectKind::Deletes, self.deletes()),
            (EffectKind::Access, self.access()),
            (EffectKind::Overrides, self.overrides()),
            (EffectKind::Obeys, self.obeys()),
            (EffectKind::Copies, self.near(Copy, Itself, 5).or_else(|| self.near(Write, Itself, 5))),
            (EffectKind::Assumes, self.near_pair(Instead, Ask, 3).or_else(|| self.near_pair(Silence, Yes, 5))),
            (EffectKind::Runs, self.near(Run, Program, 4)),
            (EffectKind::Quiet, self.quiet()),
            (EffectKind::Money, self.money()),
        ];
        for (kind, at) in rules {
            hits.extend(at.map(|at| Hit { kind, at, object: String::new() }));
        }
        self.files(hits);
        let acts = hits.len() > before || !self.addresses.is_empty();
        if let Some(at) =
            self.quietly(acts).filter(|_| !hits.iter().skip(before).any(|hit| hit.kind == EffectKind::Quiet))
        {
            hits.push(Hit { kind: EffectKind::Quiet, at, object: String::new() });
        }
        let standing = self.of(Standing).next().or_else(|| self.of(Often).next().filter(|_| acts));
        hits.extend(standing.map(|mark| Hit {
            kind: EffectKind::Standing,
            at: self.from(mark),
            object: String::new(),
        }));
    }

    /// Something is sent to a recipient other than the person.
    fn sends(&self) -> Option<Range<usize>> {
        let verb = self.of(Send).find(|verb| self.is_act(verb))?;
        let leads_out = |towards: &Mark| {
            let follows =
                |mark: &Mark| mark.concept == Recipient && distance(towards, mark).is_some_and(|gap| gap <= 3);
            self.marks.iter().any(follows) || self.is_named(towards)
        };
        let direct = |mark: &Mark| matches!(distance(verb, mark), Some(..=2)) && mark.at >= verb.end;
        let is_recipient = self.of(Towards).any(leads_out)
            || self
                .of(Recipient)
                .filter(|mark| self.word(mark.at).is_some_and(|word| DIRECT.contains(&word)))
                .any(direct)
            || !self.addresses.is_empty();
        is_recipient.then(|| self.from(verb))
    }

    /// A secret is asked for, or the assistant's own instructions.
    fn secret(&self) -> Option<Range<usize>> {
        let is_own = |at: &Mark| self.of(Rules).any(|rules| rules.at >= at.end && rules.at - at.end <= 1);
        let own = self.of(Given).chain(self.of(First).filter(|at| is_own(at)));
        let own: Vec<&Mark> = own.collect();
        let asks = |at: &Mark, gap| own.iter().any(|own| matches!(distance(at, own), Some(found) if found <= gap));
        self.near(Obtain, Secret, 9)
            .or_else(|| self.of(Echo).find(|at| self.is_act(at) && asks(at, 9)).map(|at| self.from(at)))
            .or_else(|| {
                let asked =
                    |at: &&Mark| matches!(self.of(Given).next(), Some(own) if own.at >= at.end && own.at - at.end <= 1);
                self.of(What).find(asked).map(|at| self.from(at))
            })
    }

    /// Returns whether a name follows: a word with a capital.
    fn is_named(&self, towards: &Mark) -> bool {
        let is_english = self.word(towards.at).is_some_and(|word| matches!(word, "to" | "with"));
        let next = self.words.get(towards.end).and_then(|next| self.text.get(next.start..next.end));
        is_english
            && next.is_some_and(|next| {
                next.chars().next().is_some_and(char::is_uppercase) && next.chars().any(char::is_lowercase)
            })
    }

    fn deletes(&self) -> Option<Range<usize>> {
        let verb = self.of(Delete).find(|verb| {
            let is_close = |mark: &Mark| match distance(verb, mark) {
                Some(gap) if mark.at >= verb.end => gap <= 4 && !self.is_parted(verb.end..mark.at),
                Some(gap) => gap <= 2,
                None => false,
            };
            let path = self.paths.iter().any(|(at, _)| self.follows(verb, at, 4));
            self.is_act(verb) && (path || self.of(Data).any(is_close))
        })?;
        Some(self.from(verb))
    }

    fn access(&self) -> Option<Range<usize>> {
        self.near(Grant, Access, 6)
            .or_else(|| self.near(Grant, Rank, 6))
            .or_else(|| self.near(Disable, Protection, 4))
            .or_else(|| self.turned_off(Question))
    }

    /// Something is turned off, and not only stopped: "stop when the question is answered".
    fn turned_off(&self, concept: Concept) -> Option<Range<usize>> {
        let verbs = self.of(Disable).filter(|verb| !self.word(verb.at).is_some_and(|word| AMBIGUOUS.contains(&word)));
        let close = |verb: &&Mark| self.of(concept).any(|mark| mark.at >= verb.end && mark.at - verb.end <= 3);
        verbs.filter(|verb| self.is_act(verb)).find(close).map(|at| self.from(at))
    }

    /// A text from elsewhere gives orders: "do what the newest mail says", "follow the instructions
    /// on that page". What a person asks for is no such text.
    fn obeys(&self) -> Option<Range<usize>> {
        let between = |from: usize, to: usize, gap| to >= from && to - from <= gap;
        let told = |what: &Mark| {
            let by_a_person = |says: &Mark| self.of(Person).any(|person| (what.end..says.at).contains(&person.at));
            let by_you =
                |says: &Mark| (what.end..says.at).any(|at| self.word(at).is_some_and(|word| PRONOUNS.contains(&word)));
            self.of(Says).any(|says| between(what.end, says.at, 6) && !by_a_person(says) && !by_you(says))
        };
        let says = |verb: &Mark| self.of(Whatever).any(|what| between(verb.end, what.at, 2) && told(what));
        let elsewhere = |rules: &Mark| self.of(Elsewhere).any(|place| between(rules.end, place.at, 4));
        let of_elsewhere = |verb: &Mark| self.of(Rules).any(|rules| between(verb.end, rules.at, 4) && elsewhere(rules));
        let verbs = || self.of(Do).chain(self.of(Follow)).filter(|verb| self.is_act(verb));
        let obeys = verbs().find(|verb| says(verb) || of_elsewhere(verb)).or_else(|| self.of(AsOrders).next());
        obeys.map(|at| self.from(at))
    }

    fn overrides(&self) -> Option<Range<usize>> {
        let unheeded = |at: &Mark| {
            let denied = self.of(Not).any(|not| matches!(distance(not, at), Some(..=3)));
            denied && self.of(Rules).any(|rules| matches!(distance(at, rules), Some(..=6)))
        };
        let role = |at: &Mark| self.of(Unbound).any(|mark| distance(at, mark).is_some());
        self.near(Ignore, Rules, 6)
            .or_else(|| self.of(Follow).find(|at| unheeded(at)).map(|at| self.from(at)))
            .or_else(|| self.near(Rules, Void, 5))
            .or_else(|| self.of(Precedence).next().map(|at| self.from(at)))
            .or_else(|| self.near(Newly, Orders, 1))
            .or_else(|| self.lawless())
            .or_else(|| {
                let obeys = |at: &&Mark| {
                    self.of(Follow).chain(self.of(Run)).any(|verb| verb.at >= at.end && verb.at - at.end <= 4)
                };
                self.of(Decode).filter(|at| self.is_act(at)).find(obeys).map(|at| self.from(at))
            })
            .or_else(|| self.of(Role).find(|at| role(at) || self.is_second_person(at)).map(|at| self.from(at)))
            .or_else(|| {
                let told: Vec<_> = self.of(Unbound).filter(|at| self.is_certain_mode(at)).collect();
                told.first().map(|at| self.from(at))
            })
    }

    /// Nothing is refused, or answers follow no rule: several such words in one sentence.
    fn lawless(&self) -> Option<Range<usize>> {
        let unrefused = |at: &Mark| {
            let denied = self.of(Not).any(|not| not.end <= at.at && at.at - not.end <= 2);
            denied || self.of(Without).any(|without| without.end <= at.at && at.at - without.end <= 1)
        };
        let refused: Vec<&Mark> = self.of(Refuse).filter(|at| !unrefused(at)).collect();
        let mut lawless: Vec<&Mark> = self.of(Lawless).filter(|at| self.is_act(at)).collect();
        lawless.dedup_by_key(|mark| mark.at);
        let several = lawless.first().filter(|_| lawless.len() > 1 && refused.is_empty());
        self.of(Refuse).find(|at| unrefused(at)).or(several.copied()).map(|at| self.from(at))
    }

    /// Returns whether the words give the assistant another identity by themselves.
    fn is_second_person(&self, role: &Mark) -> bool {
        role.end - role.at >= 3
    }

    fn is_certain_mode(&self, mark: &Mark) -> bool {
        const MODES: &[&str] = &["jaiibreak", "jaiibroken", "deveioper", "without", "god", "dude", "do", "evii"];
        self.word(mark.at).is_some_and(|word| MODES.iter().any(|mode| word.starts_with(mode)))
    }

    fn quiet(&self) -> Option<Range<usize>> {
        let to_somebody = |at: &Mark| {
            let heard = |mark: &Mark, gap| matches!(distance(at, mark), Some(found) if found <= gap);
            self.of(Person).any(|mark| heard(mark, 5)) || self.of(This).any(|mark| heard(mark, 2))
        };
        let unsaid = |at: &Mark| {
            // "Say that you cannot send" denies the sending.
            let follows = |not: &Mark| not.at >= at.end && self.word(not.at).is_some_and(|word| VERBAL.contains(&word));
            let denied = self.of(Not).any(|not| matches!(distance(not, at), Some(..=3)) && !follows(not));
            denied && to_somebody(at) && !self.is_turned(at)
        };
        self.of(Tell)
            .find(|at| unsaid(at))
            .map(|at| self.from(at))
            .or_else(|| self.near_pair(Without, Ask, 4))
            .or_else(|| self.of(Without).find(|at| self.followed(at, Tell, 4)).map(|at| self.from(at)))
            .or_else(|| self.near_pair(NoNeed, Ask, 4))
            .or_else(|| self.near(Skip, Question, 4))
            .or_else(|| {
                self.of(Skip).find(|at| self.word(at.at).is_some_and(hides) && to_somebody(at)).map(|at| self.from(at))
            })
            .or_else(|| self.near(Keep, Hidden, 4))
    }

    /// Something is done unnoticed.
    fn quietly(&self, acts: bool) -> Option<Range<usize>> {
        self.of(Secretly)
            .next()
            .filter(|_| acts || self.of(Send).chain(self.of(Write)).next().is_some())
            .map(|at| self.from(at))
    }

    fn money(&self) -> Option<Range<usize>> {
        let sum = !self.sums.is_empty();
        self.of(Pay)
            .find(|verb| {
                self.is_act(verb) && (sum || self.of(Money).any(|mark| matches!(distance(verb, mark), Some(..=6))))
            })
            .map(|verb| self.from(verb))
    }

    /// Files that a verb of the sentence is about.
    fn files(&self, hits: &mut Vec<Hit>) {
        for (at, path) in self.paths {
            let reaches = |concept| self.of(concept).any(|verb| self.is_act(verb) && self.follows(verb, at, 12));
            let kind = if reaches(Delete) {
                EffectKind::Deletes
            } else if reaches(Write) {
                EffectKind::Writes
            } else if reaches(Read) {
                EffectKind::Reads
            } else {
                continue;
            };
            hits.push(Hit { kind, at: at.clone(), object: path.clone() });
        }
    }

    fn of(&self, concept: Concept) -> impl Iterator<Item = &Mark> {
        self.marks.iter().filter(move |mark| mark.concept == concept)
    }

    /// Returns the place of the first of the one concept, not denied, that stands near the other.
    fn near(&self, one: Concept, other: Concept, gap: usize) -> Option<Range<usize>> {
        let close = |at: &Mark| self.of(other).any(|mark| matches!(distance(at, mark), Some(found) if found <= gap));
        self.of(one).find(|at| self.is_act(at) && close(at)).map(|at| self.from(at))
    }

    /// Like [`near`](Self::near), for words that deny something themselves.
    fn near_pair(&self, one: Concept, other: Concept, gap: usize) -> Option<Range<usize>> {
        self.of(one).find(|at| self.followed(at, other, gap)).map(|at| self.from(at))
    }

    fn followed(&self, at: &Mark, other: Concept, gap: usize) -> bool {
        self.of(other).any(|mark| matches!(distance(at, mark), Some(found) if found <= gap))
    }

    /// Returns whether the words are an act: a verb here, and not denied.
    fn is_act(&self, verb: &Mark) -> bool {
        let before = verb.at.checked_sub(1).filter(|at| self.is_here(*at)).and_then(|at| self.word(at));
        let after = self.word(verb.end);
        let ambiguous =
            |list: &[&str]| verb.end == verb.at + 1 && self.word(verb.at).is_some_and(|word| list.contains(&word));
        let is_noun = ambiguous(NOUNS) && before.is_some_and(|word| DETERMINERS.contains(&word));
        let is_adjective = ambiguous(ADJECTIVES) && !after.is_some_and(|word| DETERMINERS.contains(&word));
        let denied = self.of(Not).any(|not| not.end <= verb.at && verb.at - not.end <= 2);
        !is_noun && !is_adjective && (!denied || self.is_turned(verb))
    }

    /// Returns whether a denial before the verb is turned around: "do not hesitate to …".
    fn is_turned(&self, verb: &Mark) -> bool {
        self.of(Twist).any(|twist| twist.end <= verb.at && verb.at - twist.end <= 2)
    }

    /// Returns whether a preposition stands between, so that the noun is a place and not the
    /// object.
    fn is_parted(&self, between: Range<usize>) -> bool {
        between
            .into_iter()
            .any(|at| self.word(at).is_some_and(|word| matches!(word, "from" | "in" | "to" | "for" | "as")))
    }

    fn follows(&self, verb: &Mark, at: &Range<usize>, gap: usize) -> bool {
        let path = self.words.partition_point(|word| word.start < at.start);
        path.abs_diff(verb.at) <= gap + 1
    }

    fn is_here(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| self.at.contains(&word.start))
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.text.as_str())
    }

    /// Returns the place from a mark to the end of the sentence. A word before the verb belongs to
    /// it if it denies something.
    fn from(&self, mark: &Mark) -> Range<usize> {
        let denial = self.of(Not).find(|not| not.end <= mark.at && mark.at - not.end <= 3);
        let first = denial.map_or(mark.at, |not| not.at);
        // "Do not tell" is not shown as "not tell".
        let auxiliary =
            |at: &usize| self.is_here(*at) && self.word(*at).is_some_and(|word| AUXILIARIES.contains(&word));
        let first = first.checked_sub(1).filter(|_| denial.is_some()).filter(auxiliary).unwrap_or(first);
        self.words.get(first).map_or(self.at.start, |word| word.start)..self.at.end
    }
}

/// Verbs that are nouns after a determiner, in the spelling of [`skeleton`].
///
/// [`skeleton`]: crate::review::plain_text::skeleton
const NOUNS: &[&str] = &[
    "emaii", "maii", "post", "text", "message", "share", "report", "export", "copy", "order", "charge", "bet", "tip",
    "transfer", "run", "iaunch", "start", "open", "record", "iog", "store", "show", "request", "check", "iist", "type",
    "update", "change", "read", "prompt", "query", "view", "quote", "add", "print", "output", "access", "wire", "stop",
    "deposit", "refund", "purchase", "import", "scan", "iook", "use", "ioad", "search", "trust", "controi", "book",
];
/// Verbs that are adjectives unless a determiner follows.
const ADJECTIVES: &[&str] = &["ciear", "empty", "corrupt", "open"];
/// Denials that stand before what they deny, in the spelling of [`skeleton`].
///
/// [`skeleton`]: crate::review::plain_text::skeleton
const VERBAL: &[&str] = &[
    "not",
    "don't",
    "dont",
    "never",
    "doesn't",
    "doesnt",
    "isn't",
    "isnt",
    "mustn't",
    "mustnt",
    "shouidn't",
    "shouidnt",
    "can't",
    "cant",
    "cannot",
    "won't",
    "wont",
];
/// Verbs that end a protection and many other things, in the spelling of [`skeleton`].
///
/// [`skeleton`]: crate::review::plain_text::skeleton
const AMBIGUOUS: &[&str] = &["stop", "remove", "open", "bypass", "uniock", "weaken", "disarm"];
/// The person who uses the assistant, as the object of a sentence names them.
const PRONOUNS: &[&str] = &["i", "you", "he", "she", "we", "ich", "du", "er", "iis", "eiie", "ii"];
/// Words before a denial that belong to it, in the spelling of [`skeleton`].
///
/// [`skeleton`]: crate::review::plain_text::skeleton
const AUXILIARIES: &[&str] = &["do", "does", "must", "shouid", "shaii", "wiii", "can", "may"];
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "this", "that", "your", "my", "his", "her", "its", "their", "each", "every", "any", "by", "via",
    "new", "of", "aii", "in", "out", "up", "user", "users", "s", "no", "some", "one",
];
/// Recipients that need no preposition: "email everyone".
const DIRECT: &[&str] = &[
    "everyone",
    "aii",
    "contacts",
    "coiieague",
    "coiieagues",
    "friend",
    "friends",
    "boss",
    "team",
    "manager",
    "coworker",
    "coworkers",
    "press",
    "competitor",
    "competitors",
    "attacker",
];

fn hides(word: &str) -> bool {
    ["hide", "hides", "hiding", "conceai", "verbirg", "verstecke", "cache", "nascond", "oculta", "escond"]
        .iter()
        .any(|known| word.starts_with(known))
}

/// Returns the number of words between two marks; `None` if they overlap.
fn distance(one: &Mark, other: &Mark) -> Option<usize> {
    let (first, last) = if one.at <= other.at { (one, other) } else { (other, one) };
    last.at.checked_sub(first.end)
}
