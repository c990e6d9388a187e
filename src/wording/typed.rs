//! What people type that the program itself understands, in every language of the catalogue.

use super::Language;
use super::language::say;

/// Returns true if the text is nothing but a yes, in any language.
pub fn is_yes(text: &str) -> bool {
    let text = text.trim_end_matches(['.', '!', ' ']).trim().to_lowercase().replace(',', "");
    Language::all().any(|language| say!(language, "typed-yes").split(", ").any(|yes| yes == text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mere_yes_is_one() {
        for yes in ["yes", "Yes!", " YES. ", "Ja, bitte", "sí", "Si", "ok", "yes, please"] {
            assert!(is_yes(yes), "{yes}");
        }
        for other in ["", "yes and no", "no", "yes, at 7", "yes?", "oui", "/yes 1", "yes yes", "jaguar"] {
            assert!(!is_yes(other), "{other}");
        }
    }
}
