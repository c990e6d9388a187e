//! All files of the catalogue say the same.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Message, Pattern, PatternElement};

use super::*;

/// Sentences of a file, each with its variables.
type Sentences = BTreeMap<String, BTreeSet<String>>;

fn sentences(code: &str) -> Sentences {
    let (_, text) = CATALOGUES.iter().find(|(known, _)| *known == code).unwrap();
    let resource =
        FluentResource::try_new((*text).to_owned()).unwrap_or_else(|(_, errors)| panic!("{code}: {errors:?}"));
    let mut found = Sentences::new();
    for entry in resource.entries() {
        match entry {
            Entry::Message(Message { id, value: Some(value), attributes, .. }) if attributes.is_empty() => {
                let mut variables = BTreeSet::new();
                in_pattern(value, &mut variables);
                assert_eq!(found.insert(id.name.to_owned(), variables), None, "{code}: {} stands twice", id.name);
            }
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
            other => panic!("{code}: {other:?}"),
        }
    }
    found
}

fn in_pattern(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => in_inline(inline, variables),
            Expression::Select { selector, variants } => {
                in_inline(selector, variables);
                variants.iter().for_each(|variant| in_pattern(&variant.value, variables));
            }
        }
    }
}

fn in_inline(inline: &InlineExpression<&str>, variables: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => drop(variables.insert(id.name.to_owned())),
        InlineExpression::Placeable { expression } => match &**expression {
            Expression::Inline(inline) => in_inline(inline, variables),
            Expression::Select { .. } => panic!("a choice within a choice"),
        },
        other => panic!("neither a variable nor a choice: {other:?}"),
    }
}

/// Proves: people/language
#[test]
fn all_languages_have_the_same_sentences_with_the_same_variables() {
    let english = sentences("en");
    assert!(english.len() > 60, "{}", english.len());
    for (code, text) in CATALOGUES {
        let mut own = sentences(code);
        // The English descriptions of commands stand in the table of commands, which tests these.
        own.retain(|key, _| !key.starts_with("does-"));
        assert_eq!(own, english, "{code}");
        let is_hidden = |c: char| c.is_control() || crate::text::is_ignorable(c) || (c.is_whitespace() && c != ' ');
        let hidden: Vec<char> = text.chars().filter(|c| *c != '\n' && is_hidden(*c)).collect();
        assert!(hidden.is_empty(), "{code}: {hidden:?}");
    }
}
