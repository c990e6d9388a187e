//! Line and column numbers.

/// The start of each line of a text.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Returns line and column, both from 1, the column in characters.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or(0);
        (line, self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::of("aé\nöx");
        assert_eq!([0, 3, 4, 6].map(|at| lines.place(at)), [(1, 1), (1, 3), (2, 1), (2, 2)]);
    }
}
