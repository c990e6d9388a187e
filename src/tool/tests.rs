//! Decisions about calls: allowed, asked, or refused.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::skill_policy::SkillPolicy;
use super::*;
use crate::id::{ConversationId, MessageId, TurnId};
use crate::trust::{Scope, Source};
use crate::wording::Language;

/// A tool that only declares its destination.
struct Sends(Egress);

#[async_trait]
impl Tool for Sends {
    fn declaration(&self) -> ToolDeclaration {
        let spec = ToolSpec { name: "send".to_owned(), description: String::new(), schema: json!({}) };
        ToolDeclaration { spec, effects: Effects::LEAVES, egress: self.0.clone(), repeatable: false, replaces: false }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        match arguments.get("impossible") {
            Some(_) => Err(ToolError::Refused("It cannot be done.".to_owned())),
            None => Ok(()),
        }
    }

    async fn run(&self, _: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        Err(ToolError::Failed("It did not work.".to_owned()))
    }
}

fn outside() -> Egress {
    outside_with(ArgumentMarks::default())
}

fn outside_with(marks: ArgumentMarks) -> Egress {
    Egress::Outside { server: "files".to_owned(), tool: "write\u{202e}\n`x".to_owned(), marks: Arc::new(marks) }
}

fn address() -> Egress {
    Egress::Address("url")
}

/// Returns the decision about a call, as a word or as the displayed question.
fn way(reach: Egress, arguments: &str, label: &Label, granted: Option<&Covers>) -> Result<Ask, String> {
    let scope = Scope::Shared;
    let typed = web::addresses_in("see http://typed.example/a and https://secure.example/a");
    let linked = [web::parse("http://one.example/linked?a=b").unwrap()];
    let call = AuthorizableCall {
        wishes: &[],
        arguments: &Value::Null,
        scope,
        conversation: ConversationId(1),
        turn: TurnId(1),
        person: None,
        before: MessageId(1),
        typed: &typed,
        linked: &linked,
        granted: granted.map(std::slice::from_ref).unwrap_or_default(),
        label,
        shown_hosts: &BTreeSet::from(["shown.example".to_owned()]),
        policy: &SkillPolicy::default(),
        language: Language::ENGLISH,
        sees_pictures: false,
    };
    let toolbox = Toolbox::new(vec![Arc::new(Sends(reach))]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    match runtime.block_on(toolbox.decide("send", arguments, &call)) {
        Decision::Open(_) => Err("open".to_owned()),
        Decision::Closed(sentence) => Err(sentence),
        Decision::Ask(ask) => Ok(ask),
    }
}

fn tainted() -> Label {
    Label::untrusted(Source::forward())
}

fn open() -> Result<Ask, String> {
    Err("open".to_owned())
}

#[test]
fn a_clean_turn_and_a_call_that_stays_inside_need_no_yes() {
    let clean = Label::neutral();
    assert_eq!(way(outside(), "{}", &clean, None), open());
    assert_eq!(way(address(), "{\"url\": \"http://any.example/\"}", &clean, None), open());
    assert_eq!(way(Egress::Inside, "{}", &tainted(), None), open());
    assert_eq!(way(address(), "{\"url\": \"https://typed.example/a/\"}", &tainted(), None), open());
}

#[test]
fn after_a_skill_of_a_third_party_only_the_hosts_shown_with_it_need_no_yes() {
    let approved = Label::decode("trusted approved:3");
    let url = |host: &str| format!("{{\"url\": \"https://{host}/b\"}}");
    assert_eq!(way(address(), &url("Shown.example."), &approved, None), open());
    assert_eq!(way(address(), "{\"url\": \"https://typed.example/a/\"}", &approved, None), open());
    for other in ["other.example", "shown.example.evil.example", "x.shown.example"] {
        assert!(way(address(), &url(other), &approved, None).is_ok(), "{other}");
    }
    assert!(way(outside(), "{}", &approved, None).is_ok() && way(Egress::Later, "{}", &approved, None).is_ok());
    assert_eq!(way(Egress::Inside, "{}", &approved, None), open());
    let both = approved.join_with(&tainted());
    assert!(
        way(address(), &url("shown.example"), &both, None).is_ok(),
        "what was read besides may have put it together"
    );
}

/// Proves: trust/vouch
#[test]
fn what_a_person_vouches_for_needs_a_yes_only_before_it_leaves() {
    let vouched = Label::decode("trusted vouched:file:in1");
    assert_eq!(way(Egress::Later, "{}", &vouched, None), open());
    assert_eq!(way(Egress::Inside, "{}", &vouched, None), open());
    assert!(way(outside(), "{}", &vouched, None).is_ok());
    let with_a_skill = Label::decode("trusted approved:3 vouched:file:in1");
    let url = "{\"url\": \"https://shown.example/b\"}";
    assert!(way(address(), url, &with_a_skill, None).is_ok(), "what was sent may have put it together");
    assert!(way(address(), "{\"url\": \"https://other.example/b\"}", &vouched, None).is_ok());
}

/// Proves: gate/exact-approval
#[test]
fn a_call_of_an_outside_tool_is_shown_whole_with_what_is_hidden_in_it() {
    let arguments = "{\"text\": \"a\u{200b}b\\n```\\nc\", \"to\": {\"n\": [1, 2]}}";
    let ask = way(outside(), arguments, &tainted(), None).unwrap();
    let spec = Sends(outside()).declaration().spec;
    let call = outside().outside_call(&spec, &serde_json::from_str(arguments).unwrap()).unwrap();
    assert_eq!(ask.covers, call.covers());
    assert_eq!(ask.to, "files/write⟨U+202E right-to-left override⟩ `x");
    let lines = "text: |\n    a⟨U+200B zero width space⟩b\n    ```\n    c\nto:\n    n:\n        - 1\n        - 2";
    assert_eq!(ask.text.shown, lines);
}

fn open_at(url: &str, granted: Option<&Covers>) -> Result<Ask, String> {
    way(address(), &json!({ "url": url }).to_string(), &tainted(), granted)
}

/// Proves: gate/exact-approval
#[test]
fn a_yes_opens_exactly_the_address_that_was_shown() {
    let asked = open_at("http://ONE.example:80/b?c=1#d", None).unwrap();
    assert_eq!(asked.text.shown, "http://one.example/b?c=1");
    let yes = Some(&asked.covers);
    for same in ["http://one.example/b?c=1", "http://one.example./b?c=1#e", "http://one.example:80/b?c=1"] {
        assert_eq!(open_at(same, yes), open(), "{same}");
    }
    for other in [
        "http://one.example/",
        "http://one.example/b",
        "http://one.example/b/?c=1",
        "http://one.example/b?c=1&d=my-pin-is-4711",
        "http://one.example/%62?c=1",
        "http://one.example:8080/b?c=1",
        "https://one.example/b?c=1",
        "http://sub.one.example/b?c=1",
        "http://xone.example/b?c=1",
        "http://one.example.evil.example/b?c=1",
    ] {
        assert!(open_at(other, yes).is_ok(), "{other}");
    }
    assert!(open_at("http://one.example/b?c=1", Some(&Covers::Call)).is_ok());
    assert!(way(outside(), "{}", &tainted(), yes).is_ok());
    let asked = way(outside(), "{}", &tainted(), None).unwrap();
    assert_eq!(way(outside(), "{}", &tainted(), Some(&asked.covers)), open());
    assert!(way(outside(), "{}", &tainted(), Some(&Covers::Call)).is_ok());
}

#[test]
fn an_address_linked_by_its_own_host_opens_only_if_exact() {
    assert_eq!(open_at("http://one.example/linked?a=b#c", None), open());
    for other in ["http://one.example/linked", "http://one.example/linked?a=b&c", "https://one.example/linked?a=b"] {
        assert!(open_at(other, None).is_ok(), "{other}");
    }
}

/// Proves: trust/approved-host
#[test]
fn an_address_typed_with_https_is_opened_with_https_only() {
    assert_eq!(open_at("https://secure.example/a", None), open());
    assert_eq!(open_at("https://typed.example/a", None), open(), "the safer way is open as well");
    for label in [tainted(), Label::neutral()] {
        let refused = way(address(), "{\"url\": \"http://secure.example/a/\"}", &label, None).unwrap_err();
        assert_eq!(refused, crate::wording::tool::TYPED_WITH_HTTPS);
    }
}

#[test]
fn a_scheduled_call_is_shown_in_full_and_a_yes_covers_only_it() {
    let arguments = "{\"text\": \"pay\u{200b}\\n```\", \"when\": \"in 1 hour\"}";
    assert_eq!(way(Egress::Later, arguments, &Label::neutral(), None), open());
    let ask = way(Egress::Later, arguments, &tainted(), None).unwrap();
    assert_eq!(ask.covers, Covers::Call);
    assert_eq!(ask.text.shown, "text: |\n    pay⟨U+200B zero width space⟩\n    ```\nwhen: in 1 hour");
    assert_eq!(way(Egress::Later, arguments, &tainted(), Some(&Covers::Call)), open());
    assert!(way(Egress::Later, "{\"impossible\": 1}", &tainted(), None).is_err());
}

#[test]
fn impossible_or_unshowable_calls_are_refused_without_asking() {
    let long = json!({ "text": "x".repeat(MAX_SHOWN) }).to_string();
    let cases = [
        (address(), "{\"impossible\": 1, \"url\": \"http://any.example/\"}", "It cannot be done."),
        (address(), "{\"url\": \"no address\"}", "Not an address"),
        (outside(), "{\"impossible\": 1}", "It cannot be done."),
        (outside(), "[]", crate::wording::tool::BAD_ARGUMENTS),
        (outside(), long.as_str(), "Refused: "),
    ];
    for (reach, arguments, sentence) in cases {
        let refused = way(reach, arguments, &tainted(), None).unwrap_err();
        assert!(refused.starts_with(sentence), "{arguments}: {refused}");
    }
}

proptest! {
    #[test]
    fn an_address_is_shown_in_full(path in "[ -~\u{80}-\u{3000}]{0,80}") {
        let arguments = json!({ "url": format!("http://any.example/{path}") }).to_string();
        if let Ok(ask) = way(address(), &arguments, &tainted(), None) {
            let wanted = web::normal(&web::parse(&format!("http://any.example/{path}")).unwrap());
            prop_assert_eq!(&ask.text.shown, wanted.as_str());
            prop_assert!(ask.text.shown.chars().all(|c| c.is_ascii_graphic()));
        }
    }

    #[test]
    fn another_call_has_another_digest(one in "\\PC{0,8}", other in "\\PC{0,8}", more in "\\PC{1,4}") {
        let call = |name: &str, arguments: &str| ToolCall {
            id: String::new(), name: name.to_owned(), arguments: arguments.to_owned(), extra: String::new(),
        };
        let pairs = [
            (vec![call(&one, &format!("{more}{other}"))], vec![call(&format!("{one}{more}"), &other)]),
            (vec![call(&one, &other)], vec![call(&one, &format!("{other}{more}"))]),
            (vec![call(&one, &other)], vec![call(&one, &other), call(&one, &other)]),
            (vec![call(&one, &other), call(&one, &more)], vec![call(&one, &more), call(&one, &other)]),
        ];
        for (these, those) in pairs.into_iter().filter(|(these, those)| these != those) {
            prop_assert_ne!(digest(&these), digest(&those));
        }
    }
}

#[test]
fn every_effect_has_to_be_allowed() {
    let both = Effects::READS.and(Effects::LEAVES);
    assert!(both.are_within(Effects::ALL) && Effects::READS.are_within(both));
    assert!(!both.are_within(Effects::READS) && !both.are_within(Effects::ALL.without(Effects::LEAVES)));
}
