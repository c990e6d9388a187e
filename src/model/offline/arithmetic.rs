//! Arithmetic: `+ - * /`, brackets and decimals, exactly as written in a question.

/// Finds the expression in a question and its result: `what is 12*7?` gives `12*7` and 84. The
/// inner `None` is an expression without a result, such as a division by zero; the outer one means
/// no expression.
pub(super) fn find(question: &str) -> Option<(String, Option<f64>)> {
    let sum = longest_run(question)?;
    let operators = sum.chars().filter(|c| "+-*/".contains(*c)).count();
    let digits = sum.chars().filter(char::is_ascii_digit).count();
    if operators == 0 || digits < 2 || sum.len() > 100 {
        return None;
    }
    let mut reader = ExpressionParser { rest: sum.chars().filter(|c| *c != ' ').collect::<Vec<_>>(), at: 0, depth: 0 };
    let result = reader.sum();
    // A date or a range of numbers looks like the beginning of an expression; only text that parses
    // to its end counts.
    if reader.at < reader.rest.len() {
        return None;
    }
    Some((sum, result?.filter(|result| result.is_finite())))
}

/// Formats a number as a person writes it.
pub(super) fn show(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The question's one run of digits, operators and brackets; `None` if there are several, or if the
/// run is a date.
fn longest_run(question: &str) -> Option<String> {
    let question = question.replace(['×', '·'], "*").replace('÷', "/").replace('−', "-");
    let is_part = |c: char| c.is_ascii_digit() || "+-*/(). ".contains(c);
    let with_digits = |run: &&str| run.chars().any(|c| c.is_ascii_digit());
    let mut runs =
        question.split(|c| !is_part(c)).map(|run| run.trim().trim_end_matches('.').trim()).filter(with_digits);
    let run = runs.next()?.to_owned();
    let is_date = run.split('-').count() == 3 && run.chars().all(|c| c.is_ascii_digit() || c == '-');
    if runs.next().is_some() || is_date { None } else { Some(run) }
}

struct ExpressionParser {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

impl ExpressionParser {
    /// Parses a sum. The outer `None` is a syntax error; the inner `None` is an undefined number.
    fn sum(&mut self) -> Option<Option<f64>> {
        let mut value = self.product()?;
        while let Some(operator) = self.take("+-") {
            let next = self.product()?;
            value = combine(value, next, |a, b| if operator == '+' { a + b } else { a - b });
        }
        Some(value)
    }

    fn product(&mut self) -> Option<Option<f64>> {
        let mut value = self.factor()?;
        while let Some(operator) = self.take("*/") {
            let next = self.factor()?;
            let next = next.filter(|next| operator == '*' || *next != 0.0);
            value = combine(value, next, |a, b| if operator == '*' { a * b } else { a / b });
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<Option<f64>> {
        const DEEPEST: usize = 20;
        if self.take("-").is_some() {
            self.depth += 1;
            return if self.depth > DEEPEST { None } else { Some(self.factor()?.map(|value| -value)) };
        }
        if self.take("(").is_some() {
            self.depth += 1;
            let inner = if self.depth > DEEPEST { None } else { self.sum() };
            self.take(")")?;
            return inner;
        }
        let mut number = String::new();
        while let Some(c) = self.take("0123456789.") {
            number.push(c);
        }
        number.parse().ok().map(Some)
    }

    fn take(&mut self, any: &str) -> Option<char> {
        let c = self.rest.get(self.at).copied().filter(|c| any.contains(*c))?;
        self.at += 1;
        Some(c)
    }
}

fn combine(a: Option<f64>, b: Option<f64>, how: impl Fn(f64, f64) -> f64) -> Option<f64> {
    Some(how(a?, b?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_table_of_sums() {
        let result = |question: &str| find(question).map(|(_, result)| result.map(show).unwrap_or_default());
        for (question, expected) in [
            ("what is 12*7?", Some("84")),
            ("2 + 3 * 4", Some("14")),
            ("(2+3)*4 =", Some("20")),
            ("was ist 7 ÷ 2", Some("3.5")),
            ("1/3", Some("0.333333")),
            ("-3 - -4", Some("1")),
            ("1/0", Some("")),
            ("I am 12", None),
            ("on 2026-11-20", None),
            ("call 555-1234 or 555-9876", None),
            ("2 +", None),
            ("((((", None),
            ("", None),
        ] {
            assert_eq!(result(question).as_deref(), expected, "{question}");
        }
    }

    proptest! {
        #[test]
        fn any_question_is_survived(question in "[-0-9+*/(). a]{0,120}") {
            let _ = find(&question);
        }
    }
}
