//! A parsed question: the search words, the people named in it, and any month or year.
//!
//! Stop words (`what`, `hat`, `avec`) occur in nearly every text and say nothing; they are left out
//! unless nothing else remains. So are the names of the participants: a text that contains a name
//! is mostly addressed *to* that person, while a question with the name asks for what they said
//! themselves. Callers instead prefer texts by a named person. Measured on long conversations, a
//! name left in a question leads to greetings.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use super::fold;

/// Maximum number of words of a query. Further ones add nothing to a question but time.
pub const MOST_WORDS: usize = 32;

/// A parsed question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// All words in order, as the index spells them. A word of ideographs is several, separated by
    /// spaces.
    pub all: Vec<String>,
    /// The search words, each once.
    pub words: Vec<String>,
    /// The months it names, from 1.
    pub months: BTreeSet<u32>,
    /// The years it names.
    pub years: BTreeSet<i32>,
    /// The people it names, as positions in the list of names.
    pub named: BTreeSet<usize>,
    /// Search words written as a proper name: with a capital inside a sentence.
    pub proper: BTreeSet<String>,
}

impl Question {
    /// Parses a question. `names` are the names of the participants and of the assistant.
    pub fn of(text: &str, names: &[String]) -> Self {
        let all: Vec<String> = words_of(text).collect();
        let small = Small::of(&all);
        let named_words: Vec<(String, usize)> = names.iter().enumerate().flat_map(name_words).collect();
        let mut question = Self { all, ..Self::default() };
        let mut left = Vec::new();
        for (at, word) in question.all.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| question.all.get(at)).map_or("", String::as_str);
            let after = question.all.get(at + 1).map_or("", String::as_str);
            let people: Vec<usize> =
                named_words.iter().filter(|(name, _)| name == word).map(|(_, person)| *person).collect();
            question.named.extend(&people);
            question.years.extend(year(word));
            let month = month(word).filter(|_| word != "may" || is_date(before, after));
            question.months.extend(month);
            if people.is_empty() && (month.is_some() || !small.holds(word)) {
                left.push(word.clone());
            }
        }
        question.words = once(if left.is_empty() { question.all.clone() } else { left });
        question.words.truncate(MOST_WORDS);
        if !small.is_of_capitals() {
            question.proper = proper_names(text).filter(|name| question.words.contains(name)).collect();
        }
        question
    }

    /// Returns whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the months it names, in the language of the index.
    pub fn month_words(&self) -> impl Iterator<Item = &'static str> {
        self.months.iter().filter_map(|month| month_word(*month))
    }
}

/// Returns the words of a text in order, as in [`Question::all`].
pub fn words_of(text: &str) -> impl Iterator<Item = String> {
    pieces(text).take(MOST_WORDS * 4)
}

/// Returns the text without these names, for a model that compares meanings; the unchanged text if
/// nothing else would remain.
pub fn without_names(text: &str, names: &[String]) -> String {
    let named: Vec<String> = names.iter().enumerate().flat_map(name_words).map(|(word, _)| word).collect();
    let mut kept = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !is_letter(c)) {
        let end = word.chars().next_back().filter(|c| !is_letter(*c));
        let bare = spelled(word.trim_end_matches(|c: char| !is_letter(c)));
        if named.contains(&bare) {
            kept.extend(end);
        } else {
            kept.push_str(word);
        }
    }
    let kept = super::one_line(&kept.replace("'s ", " ").replace("’s ", " "));
    let left: Vec<String> = pieces(&kept).collect();
    let small = Small::of(&left);
    let says_something = left.iter().any(|word| !small.holds(word));
    if says_something { kept } else { text.to_owned() }
}

/// Returns the share of a text that consists of questions, 0 to 1.
pub fn asking_share(text: &str) -> f64 {
    const MARKS: [char; 3] = ['?', '？', '؟'];
    if !MARKS.iter().any(|mark| text.contains(*mark)) {
        return 0.0;
    }
    let sentences = || text.split_inclusive(['.', '!', '?', '？', '؟', '\n']).filter(|part| part.contains(is_letter));
    let length = |part: &str| u32::try_from(part.chars().count()).map_or(f64::MAX, f64::from);
    let asking = sentences().filter(|part| part.trim_end().ends_with(MARKS));
    let all: f64 = sentences().map(length).sum();
    if all > 0.0 { asking.map(length).sum::<f64>() / all } else { 0.0 }
}

/// Returns the name of a month in the language of the index.
pub fn month_word(month: u32) -> Option<&'static str> {
    let at = usize::try_from(month).ok()?.checked_sub(1)?;
    MONTHS.get(at)?.split(' ').next()
}

/// Returns the words of a text as the index spells them.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !is_letter(c)).map(spelled).filter(|word| !word.is_empty())
}

/// Returns the words that begin with a capital although no sentence does; none if most words do.
fn proper_names(text: &str) -> impl Iterator<Item = String> {
    let (mut names, mut words, mut begins) = (Vec::new(), 0, true);
    for piece in text.split_inclusive(|c: char| !is_letter(c)) {
        let word = piece.trim_end_matches(|c: char| !is_letter(c));
        if !word.is_empty() {
            words += 1;
            if !begins && word.starts_with(char::is_uppercase) {
                names.push(spelled(word));
            }
            begins = false;
        }
        begins |= piece.ends_with(['.', '?', '!', ':', '\n', '"', '“', '„', '«', '(']);
    }
    let is_title = names.len() * 2 > words;
    names.into_iter().filter(move |name| !is_title && month(name).is_none())
}

fn spelled(word: &str) -> String {
    fold::fold(word).to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || fold::is_mark(c)
}

/// Returns the words of a name. A single letter does not identify a person.
fn name_words((person, name): (usize, &String)) -> Vec<(String, usize)> {
    pieces(name).filter(|word| word.chars().count() > 1).map(|word| (word, person)).collect()
}

fn once(words: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    words.into_iter().filter(|word| seen.insert(word.clone())).collect()
}

fn year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..2200).contains(year))
}

fn month(word: &str) -> Option<u32> {
    let at = MONTHS.iter().position(|names| names.split(' ').any(|name| name == word))?;
    u32::try_from(at + 1).ok()
}

/// Returns whether "may" is a month: next to a number or after a preposition of time. Otherwise it
/// is a stop word.
fn is_date(before: &str, after: &str) -> bool {
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    const OF_TIME: &str = " in of on during since until till by last this next early late mid from before after ";
    is_number(before) || is_number(after) || (!before.is_empty() && OF_TIME.contains(&format!(" {before} ")))
}

/// The stop words of the question's language. English unless another language has more matches, and
/// more than one: `hat`, `son` and `die` are stop words in one language and not in another.
struct Small(Option<&'static HashSet<&'static str>>);

impl Small {
    fn of(words: &[String]) -> Self {
        let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
        let (mut best, mut most) = (None, 1);
        for (at, list) in LISTS.iter().enumerate() {
            let count = words.iter().filter(|word| list.contains(*word)).count();
            if count > most || (best.is_none() && count == most && at == 0) {
                (best, most) = (Some(list), count);
            }
        }
        Self(best)
    }

    /// Returns whether the language writes every noun with a capital.
    fn is_of_capitals(&self) -> bool {
        self.0.is_some_and(|list| list.contains("und"))
    }

    fn holds(&self, word: &str) -> bool {
        let is_letter = word.chars().count() == 1 && word.starts_with(|c: char| c.is_ascii_alphabetic());
        is_letter && word != "c" || self.0.is_some_and(|list| list.contains(word))
    }
}

/// The words of [`SMALL`], by language.
static LISTS: LazyLock<Vec<HashSet<&str>>> =
    LazyLock::new(|| SMALL.iter().map(|list| list.split_ascii_whitespace().collect()).collect());

/// The months, from January on: the word of the index, then those of other languages.
const MONTHS: [&str; 12] = [
    "january januar jänner janvier enero gennaio januari janeiro styczeń января",
    "february februar februari février febrero febbraio fevereiro luty февраля",
    "march märz mars marzo maart março marzec марта",
    "april avril abril aprile kwiecień апреля",
    "may mai mayo maggio mei maio maj мая",
    "june juni juin junio giugno junho czerwiec июня",
    "july juli juillet julio luglio julho lipiec июля",
    "august août agosto augustus sierpień августа",
    "september septembre septiembre settembre setembro wrzesień сентября",
    "october oktober octobre octubre ottobre outubro październik октября",
    "november novembre noviembre novembro listopad ноября",
    "december dezember décembre diciembre dicembre dezembro grudzień декабря",
];

/// Words that say nothing about what is searched: articles, pronouns, auxiliary verbs, and words
/// that form questions. The first language is the default, unless another matches better.
const SMALL: [&str; 7] = [
    "a about after all also am an and any are aren as at be because been before being but by can could couldn d did didn do does doesn doing don
     during each ever every few for from get got had has hasn have haven having he her here hers him his how i if in into is isn it its just ll m me
     might more most must my no nor not of off on once only or other our ours out over own re s same shall she should so some such t than that the
     their theirs them then there these they this those through to too under until up us ve very was wasn we were weren what when where which while
     who whom whose why will with won would wouldn you your yours tell say said says anything something may",
    "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren bin bist sei hat habe haben hatte hatten wird werden
     wurde wurden kann können konnte muss müssen soll sollte will wollen ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine
     meinen meinem meiner dein deine deinen sein seine seinen ihre ihren unser unsere was wer wen wem wessen wie wo wohin woher wann warum wieso
     welche welcher welches nicht kein keine auch nur noch schon so als im in am an auf aus bei mit nach von vom vor zu zum zur für über unter um
     durch gegen ohne dass ob wenn dann da hier dort sich man etwas nichts mal denn doch",
    "le la les l un une des du de d et ou mais est sont était étaient suis es ai as a avons avez ont avait je j tu il elle on nous vous ils elles me
     m te t se s moi toi lui leur mon ma mes ton ta tes son sa ses notre nos votre vos leurs ce c cet cette ces qui que qu quoi quel quelle quels
     quelles où quand comment pourquoi combien ne n pas plus aussi dans sur sous avec sans pour par en au aux chez y si",
    "el la los las un una unos unas y o pero es son era eran fue soy eres he ha han había yo tú él ella nosotros vosotros ellos ellas me te se nos os
     mi mis tu tus su sus nuestro nuestra que qué quien quién cual cuál cuando cuándo donde dónde como cómo por porque para con sin de del al a en
     no sí ya muy más este esta esto ese esa eso lo le les",
    "il lo la i gli le un uno una e o ma è sono era erano ho hai ha abbiamo hanno io tu lui lei noi voi loro mi ti si ci vi mio mia miei tuo tua suo
     sua che chi cosa quale quali quando dove come perché di del della dei delle da dal in nel nella a al alla con su per tra fra non più anche",
    "de het een en of maar is zijn was waren heb hebt heeft hebben had ik jij je hij zij ze wij we jullie mij me jou hem haar ons hun mijn jouw
     zijn wat wie waar wanneer waarom hoe welke niet geen ook nog al dat die dit deze in op aan met van voor naar bij uit over om te er",
    "o os as um uma uns umas e ou mas é são era eram foi sou eu tu ele ela nós vós eles elas me te se meu minha teu tua seu sua que quem qual quando
     onde como por porque para com sem de do da dos das em no na nos nas ao à não mais muito isto isso aquilo",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> Vec<String> {
        ["Ada Quist", "Ben", "Compline"].map(str::to_owned).to_vec()
    }

    fn words(text: &str) -> String {
        Question::of(text, &names()).words.join(",")
    }

    #[test]
    fn a_question_is_its_words_without_the_small_ones_and_the_names() {
        let table = [
            ("What is my cat's name?", "cat,name"),
            ("When did Ben buy the red bicycle?", "buy,red,bicycle"),
            ("Was hat Ada über den Garten gesagt?", "garten,gesagt"),
            ("Où est-ce que Ben a acheté le pain ?", "acheté,pain"),
            ("the who", "the,who"),
            ("Ben?", "ben"),
            ("動物園 Ben", "動 物 園"),
            ("Tromsø tromsø TROMSØ", "tromso"),
            ("Where is my son?", "son"),
            ("the red hat", "red,hat"),
            ("vitamin C and plan 9", "vitamin,c,plan,9"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(Question::of("What did Quist tell Compline?", &names()).named, BTreeSet::from([0, 2]));
    }

    #[test]
    fn a_proper_name_has_a_capital_inside_a_sentence() {
        let proper = |text: &str| Question::of(text, &names()).proper.into_iter().collect::<Vec<_>>().join(",");
        for (text, expected) in [
            ("When did Selma visit Lisbon with Ben in May 2023?", "lisbon,selma"),
            ("Lisbon. Where is it? Do I know?", ""),
            ("Wo liegt das Boot der Familie?", ""),
            ("Who Wrote The Salt Road", ""),
            ("where does she live", ""),
        ] {
            assert_eq!(proper(text), expected, "{text}");
        }
    }

    #[test]
    fn months_and_years_are_seen_in_several_languages() {
        let seen = |text: &str| {
            let question = Question::of(text, &names());
            (question.month_words().collect::<Vec<_>>().join(","), question.years.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(seen("What happened in May 2023?"), ("may".to_owned(), vec![2023]));
        assert_eq!(seen("on 8 may"), ("may".to_owned(), vec![]));
        assert_eq!(seen("May I have 20 eggs?"), (String::new(), vec![]));
        assert_eq!(seen("im März oder in octobre"), ("march,october".to_owned(), vec![]));
        assert_eq!(seen("room 2301"), (String::new(), vec![]));
    }

    #[test]
    fn the_asking_share_of_a_text_is_the_length_of_its_questions() {
        for (text, expected) in [
            ("How was it?", 1.0),
            ("It rained.", 0.0),
            ("Nice one. How so?!", 0.5),
            ("お元気ですか？", 1.0),
            ("1.5 litres", 0.0),
            ("?!", 0.0),
            ("", 0.0),
        ] {
            assert!((asking_share(text) - expected).abs() < 0.12, "{text}: {}", asking_share(text));
        }
    }

    #[test]
    fn names_are_cut_out_and_the_rest_stays_as_it_is_written() {
        let cut = |text: &str| without_names(text, &names());
        assert_eq!(cut("What did Ben's sister paint, Ada?"), "What did sister paint, ?");
        assert_eq!(cut("BEN likes Benedict"), "likes Benedict");
        assert_eq!(cut("Who is Ben?"), "Who is Ben?");
        assert_eq!(cut(""), "");
    }

    proptest! {
        #[test]
        fn anything_can_be_asked(text in ".{0,80}") {
            let question = Question::of(&text, &names());
            prop_assert!(question.words.iter().all(|word| question.all.contains(word)));
            prop_assert_eq!(question.words.is_empty(), question.all.is_empty());
            let _ = without_names(&text, &names());
        }
    }
}
