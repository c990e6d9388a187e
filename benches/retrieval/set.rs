//! The data set: conversations, and questions about them. `docs/retrieval.md` describes the file
//! format.

use serde::Deserialize;

/// The content of a file.
#[derive(Deserialize)]
pub struct Set {
    pub conversations: Vec<Talk>,
}

/// A whole conversation, with questions about it.
#[derive(Deserialize)]
pub struct Talk {
    pub sessions: Vec<Session>,
    pub questions: Vec<Asked>,
}

/// The messages of one occasion.
#[derive(Deserialize)]
pub struct Session {
    pub id: String,
    pub turns: Vec<Turn>,
}

#[derive(Deserialize)]
pub struct Turn {
    pub id: String,
    pub speaker: String,
    pub at: String,
    pub text: String,
}

#[derive(Deserialize)]
pub struct Asked {
    pub question: String,
    /// Turns that contain the answer.
    pub evidence: Vec<String>,
    #[serde(default)]
    pub kind: serde_json::Value,
}

/// Kinds of questions that any conversation may answer.
const ANYWHERE: [&str; 3] = ["date", "dated", "general"];

/// A question that the conversation it is asked about does not answer.
pub struct Unanswerable {
    pub question: String,
    /// True if all its words occur in that conversation, and the names of its speakers.
    pub words_occur: bool,
}

impl Set {
    /// Questions about the other conversations of a set, for each conversation: as they are, and
    /// with the names of its own speakers.
    pub fn crossed(&self) -> Vec<Vec<Unanswerable>> {
        let names: Vec<Vec<&str>> = self.conversations.iter().map(Talk::speakers).collect();
        let count = self.conversations.len();
        let of = |here: usize| {
            let others = (0..count).filter(|there| *there != here);
            let asked =
                others.flat_map(|there| self.conversations[there].questions.iter().map(move |asked| (there, asked)));
            let mut all = Vec::new();
            for (there, asked) in asked.filter(|(_, asked)| !ANYWHERE.iter().any(|kind| asked.kind == *kind)) {
                let renamed = names[there].iter().zip(names[here].iter().cycle());
                let renamed = renamed.fold(asked.question.clone(), |text, (name, own)| text.replace(name, own));
                all.push(Unanswerable { words_occur: self.conversations[here].says_all(&renamed), question: renamed });
                all.push(Unanswerable { words_occur: false, question: asked.question.clone() });
            }
            all.sort_by(|one, other| one.question.cmp(&other.question));
            all.dedup_by(|one, other| one.question == other.question);
            all
        };
        (0..count).map(of).collect()
    }
}

impl Talk {
    fn speakers(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for turn in self.sessions.iter().flat_map(|session| &session.turns) {
            if !names.contains(&turn.speaker.as_str()) {
                names.push(&turn.speaker);
            }
        }
        names
    }

    /// True if each word of the question, without its ending, begins a word of the conversation.
    fn says_all(&self, question: &str) -> bool {
        let small = compline::text::question::Question::of(question, &[]).words;
        let texts: Vec<String> =
            self.sessions.iter().flat_map(|session| &session.turns).map(|turn| turn.text.to_lowercase()).collect();
        let stem = |word: &str| word.chars().take(word.chars().count().saturating_sub(2).max(3)).collect::<String>();
        let speakers: Vec<String> = self.speakers().iter().map(|name| name.to_lowercase()).collect();
        small
            .iter()
            .filter(|word| !speakers.contains(word))
            .all(|word| texts.iter().any(|text| text.contains(&stem(word))))
    }
}
