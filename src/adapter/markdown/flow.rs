//! Text with a style per run, and its splitting into parts that fit a channel.
//!
//! Blocks become one flow, the flow is split, and only then is markup written. So a split never
//! falls into markup, and styles open at a split are open again after it. The channel defines its
//! styles and their cost in its own measure ([`Markup`]); the choice of split points is shared.

mod split;

/// Style of a run of text in one channel.
pub trait Markup: Default + PartialEq {
    /// Length of a text as the channel writes it.
    fn text_len(text: &str) -> usize;

    /// Length of the markup between this style and the next.
    fn transition_len(&self, next: &Self) -> usize;

    /// Length of the markup that ends this style.
    fn closing_len(&self) -> usize;

    /// Returns true if white space and line breaks are significant.
    fn is_preformatted(&self) -> bool;
}

/// Text with its style runs in order.
#[derive(Debug, Default)]
pub struct Flow<L> {
    text: String,
    runs: Vec<StyleRun<L>>,
}

#[derive(Debug)]
struct StyleRun<L> {
    /// End offset in the text; the run begins where the previous one ends.
    end: usize,
    style: L,
}

/// A unit that is never split: a grapheme, or the part of one within one style run.
#[derive(Debug)]
pub struct Fragment<'f, L> {
    start: usize,
    pub text: &'f str,
    pub style: &'f L,
    /// True if it continues the grapheme of the previous stretch.
    continues_grapheme: bool,
}

impl<L: Markup> Flow<L> {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Appends a text in one style.
    pub fn push(&mut self, text: &str, look: L) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.runs.last_mut().filter(|run| run.style == look) {
            Some(run) => run.end = self.text.len(),
            None => self.runs.push(StyleRun { end: self.text.len(), style: look }),
        }
    }

    /// Splits the text into parts of at most `limit`, none of them blank. If a style leaves no room
    /// for text, a part holds one character of it.
    pub fn split(&self, limit: usize) -> Vec<Vec<Fragment<'_, L>>> {
        split::split(self, limit)
    }
}

/// Visible text of a part.
pub fn plain<L>(part: &[Fragment<'_, L>]) -> String {
    part.iter().map(|stretch| stretch.text).collect()
}

impl<L> Clone for Fragment<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Fragment<'_, L> {}
