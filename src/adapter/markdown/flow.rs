//! One flow of text in which each stretch has a look, and its cutting into parts that a channel takes.
//!
//! Blocks become a flow first, the flow is cut, and only then is markup written. So a cut can never fall into markup, and what
//! was open before it is open again after it. What a look is, and what it costs in the channel's own measure, is the channel's
//! to say ([`Markup`]); where to cut is the same for all.

mod split;

/// What surrounds a stretch of text in one channel.
pub trait Markup: Default + PartialEq {
    /// How much room a text takes, as the channel writes it.
    fn measure(text: &str) -> usize;

    /// How much room is taken between this look and the next.
    fn change(&self, next: &Self) -> usize;

    /// How much room it takes to end this look, whatever follows.
    fn closing(&self) -> usize;

    /// Whether white space and line breaks mean something here.
    fn is_preformatted(&self) -> bool;
}

/// Text and, in order, which stretch of it has which look.
#[derive(Debug, Default)]
pub struct Flow<L> {
    text: String,
    runs: Vec<Run<L>>,
}

#[derive(Debug)]
struct Run<L> {
    /// Where in the text it ends; it begins where the one before ends.
    end: usize,
    look: L,
}

/// A stretch of text that is never cut: a grapheme, or the piece of one that lies in one look.
#[derive(Debug)]
pub struct Stretch<'f, L> {
    start: usize,
    /// The text.
    pub text: &'f str,
    /// What surrounds it.
    pub look: &'f L,
    /// Continues the grapheme of the stretch before.
    glued: bool,
}

impl<L: Markup> Flow<L> {
    /// Whether nothing has been added.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds a text in one look.
    pub fn push(&mut self, text: &str, look: L) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.runs.last_mut().filter(|run| run.look == look) {
            Some(run) => run.end = self.text.len(),
            None => self.runs.push(Run { end: self.text.len(), look }),
        }
    }

    /// The parts, each at most `limit` long and none of them blank. If a look leaves no room for text, a part has one character of it.
    pub fn split(&self, limit: usize) -> Vec<Vec<Stretch<'_, L>>> {
        split::split(self, limit)
    }
}

/// What is visible of a part.
pub fn plain<L>(part: &[Stretch<'_, L>]) -> String {
    part.iter().map(|stretch| stretch.text).collect()
}

impl<L> Clone for Stretch<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Stretch<'_, L> {}
