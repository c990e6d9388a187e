//! Tests of parsing commands, and of what they may do.

use super::*;
use crate::engine::turn::answered::{ContentOfCalls, NumberOfCalls};
use proptest::prelude::*;

fn search(words: &str) -> Command {
    Command::Read(Query::Search(SearchQuery { limit: 8, ..SearchQuery::of(words) }))
}

fn again(person: i64, role: Role, is_same: bool) -> Command {
    Command::Act(Action::PairNamesake { former: PersonId(person), role, is_same })
}

fn switch(name: &str, on: bool) -> Action {
    Action::SwitchMemory { name: name.to_owned(), on }
}

fn place(value: i64, number: i64) -> ListPlace {
    ListPlace { value, number }
}

fn lasting(calls: NumberOfCalls, content: ContentOfCalls) -> Command {
    Command::Act(Action::Yes(QuestionId(12), YesExtent::Lasting { calls, content }))
}

fn pairing(name: &str, role: Role) -> Command {
    Command::Act(Action::Pair { name: name.to_owned(), role, means: None })
}

#[test]
fn lines_and_what_they_mean() {
    let cases = [
        ("/help", Command::Read(Query::Help)),
        ("/Link@compline_bot", Command::Act(Action::Link)),
        ("/HELP", Command::Read(Query::Help)),
        ("  /whoami \n", Command::Read(Query::Whoami)),
        ("/new", Command::Act(Action::New)),
        ("/reset", Command::Act(Action::New)),
        ("/Reset@compline_bot", Command::Act(Action::New)),
        ("/stop now", Command::Act(Action::Stop)),
        ("/start", Command::Read(Query::Start)),
        ("/start ABCD-EFGH", Command::Read(Query::Start)),
        ("/pair abcd-efgh", Command::Read(Query::Start)),
        ("/search@compline_bot  red  shoes ", search("red  shoes")),
        ("/search\nred", search("red")),
        ("/heartbeat", Command::Read(Query::Heartbeat)),
        ("/heartbeat tidy", Command::Read(Query::TickedItems)),
        ("/heartbeat tidy YES", Command::Act(Action::ChangeHeartbeat(HeartbeatChange::Tidy))),
        (
            "/heartbeat Add Feed  the cat",
            Command::Act(Action::ChangeHeartbeat(HeartbeatChange::AddOnce("Feed  the cat".to_owned()))),
        ),
        ("/heartbeat done 2", Command::Act(Action::ChangeHeartbeat(HeartbeatChange::Tick("2".to_owned())))),
        ("/pair Ben", pairing("Ben", Role::Member)),
        ("/pair Ben OWNER", pairing("Ben", Role::Owner)),
        ("/pair Ben guest", pairing("Ben guest", Role::Member)),
        ("/pair Ben the Elder member", pairing("Ben the Elder", Role::Member)),
        ("/pair #3 member same", again(3, Role::Member, true)),
        ("/Pair@compline_bot #12  OWNER new", again(12, Role::Owner, false)),
        ("/people", Command::Read(Query::People(PageRequest::newest(50)))),
        ("/people before 0-7", Command::Read(Query::People(PageRequest { before: Some(place(0, 7)), limit: 50 }))),
        ("/people strangers", Command::Read(Query::Strangers(PageRequest::newest(10)))),
        (
            "/people strangers before 1700000000000-7",
            Command::Read(Query::Strangers(PageRequest { before: Some(place(1_700_000_000_000, 7)), limit: 10 })),
        ),
        ("/people unlink 12", Command::Act(Action::Unlink(AddressId(12)))),
        ("/people remove 2", Command::Act(Action::RemovePerson(PersonId(2)))),
        ("/people JOIN 5", Command::Act(Action::Join(PersonId(5)))),
        ("/people apart 5", Command::Act(Action::Apart(PersonId(5)))),
        ("/people ignore 5", Command::Act(Action::IgnoreStranger(StrangerId(5)))),
        ("/people handover Carl", Command::Read(Query::HandOverPlan("Carl".to_owned()))),
        ("/people Hand-Over Carl the Elder YES", Command::Act(Action::HandOver("Carl the Elder".to_owned()))),
        ("/remove Ben", Command::Act(Action::Remove("Ben".to_owned()))),
        ("/model", Command::Read(Query::Models)),
        ("/resend", Command::Act(Action::Resend(None))),
        ("/resend 12", Command::Act(Action::Resend(Some(OutboxId(12))))),
        ("/yes 12", Command::Act(Action::Yes(QuestionId(12), YesExtent::Once))),
        ("/yes 12 10", lasting(NumberOfCalls::Ten, ContentOfCalls::Same)),
        ("/Yes  12  NEW ", lasting(NumberOfCalls::UntilNew, ContentOfCalls::Same)),
        ("/yes 12 10 Vary", lasting(NumberOfCalls::Ten, ContentOfCalls::Varying)),
        ("/yes 12 new vary", lasting(NumberOfCalls::UntilNew, ContentOfCalls::Varying)),
        ("/NO@compline_bot  3 ", Command::Act(Action::No(QuestionId(3)))),
        ("/reminders", Command::Read(Query::Reminders(RemindersPart::page(None)))),
        ("/memory profiles", Command::Read(Query::AgentMemories)),
        ("/memory profile the nurse OFF", Command::Act(switch("the nurse", false))),
        ("/memory profile nurse", Command::Read(Query::Note("profile nurse".to_owned()))),
        ("/Reminders@compline_bot CANCEL  7 ", Command::Act(Action::CancelReminder(ReminderId(7)))),
        ("/reminders done 7", Command::Act(Action::FinishReminder(ReminderId(7)))),
        ("/reminders later 7", Command::Act(Action::SnoozeReminder(ReminderId(7)))),
        ("/model small", Command::Act(Action::PreferModel("small".to_owned()))),
    ];
    for (line, command) in cases {
        assert_eq!(parse(line), Some(command), "{line:?}");
    }
}

#[test]
fn an_alias_means_what_its_command_means() {
    for (alias, name) in [
        ("/clear", "/new"),
        ("/Cancel@compline_bot", "/stop"),
        ("/cost", "/usage"),
        ("/remind", "/reminders"),
        ("/remind cancel 7", "/reminders cancel 7"),
        ("/invite Ben owner", "/pair Ben owner"),
        ("/invite #3 member same", "/pair #3 member same"),
        ("/invite abcd-efgh", "/pair abcd-efgh"),
    ] {
        assert!(parse(alias).is_some(), "{alias}");
        assert_eq!(parse(alias), parse(name), "{alias}");
    }
}

#[test]
fn a_last_word_asks_for_messages_too() {
    for (line, name, messages) in [
        ("/forget garden gate", "garden gate", SourceMessages::Keep),
        ("/forget garden gate  Messages", "garden gate", SourceMessages::Delete),
        ("/forget 7 messages", "7", SourceMessages::Delete),
        ("/forget messages", "messages", SourceMessages::Keep),
    ] {
        let forget = Action::Forget { name: name.to_owned(), messages, step: ForgetStep::Plan };
        assert_eq!(parse(line), Some(Command::Act(forget)), "{line}");
    }
    assert_eq!(parse("/export x"), Some(Command::Act(Action::Export)));
}

#[test]
fn lines_that_lack_something() {
    for (line, name) in [
        ("/search", "search"),
        ("/search --in dreams red", "search"),
        ("/remove@bot ", "remove"),
        ("/new what about tomorrow", "new"),
        ("/people unlink", "people"),
        ("/people join Ada", "people"),
        ("/people handover", "people"),
        ("/pair", "pair"),
        ("/pair owner", "pair"),
        ("/pair #3", "pair"),
        ("/pair #3 guest same", "pair"),
        ("/pair #x member same", "pair"),
        ("/resend all", "resend"),
        ("/yes", "yes"),
        ("/yes 1 2", "yes"),
        ("/yes please", "yes"),
        ("/reminders tomorrow", "reminders"),
        ("/reminders cancel 1 2", "reminders"),
        ("/forget", "forget"),
    ] {
        assert_eq!((parse(line), find(line).unwrap().0.name), (None, name), "{line:?}");
    }
    for (line, name, near) in [
        ("/serach red", "serach", Some("search")),
        ("/stat", "stat", Some("status")),
        ("/xyzzy", "xyzzy", None),
        ("/", "", None),
        ("help", "help", Some("help")),
    ] {
        assert_eq!(find(line).unwrap_err(), NoCommand::Unknown { name: name.to_owned(), near }, "{line:?}");
    }
}

#[test]
fn codes_alone_or_behind_two_commands() {
    for text in ["7KQ2-MX4D", " 7kq2-mx4d\n", "/start 7KQ2-MX4D", "/pair@bot 7kq2-mx4d", "/INVITE 7KQ2-MX4D"] {
        assert_eq!(code_in(text).map(str::to_uppercase).as_deref(), Some("7KQ2-MX4D"), "{text:?}");
    }
    for text in ["7KQ2MX4D", "7KQ2-MX4", "7KQ2-MX4I", "7KQ2-MX4D please", "/new 7KQ2-MX4D", "/start", "7KQ2é-MX4", ""]
    {
        assert_eq!(code_in(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn every_text_has_an_answer(text in "\\PC{0,60}", slash in any::<bool>()) {
        let text = if slash { format!("/{text}") } else { text };
        if let Err(NoCommand::Unknown { name, .. }) = find(&text) {
            prop_assert!(name.chars().count() <= 40);
        }
        if let Some(code) = code_in(&text) {
            prop_assert!(is_code(code) && text.contains(code));
        }
    }

    #[test]
    fn words_are_searched_for_as_typed(words in "-?[a-zäöü0-9'\"][a-zäöü0-9'\"-]{0,6}( [a-zäöü0-9]{1,8}){0,3}") {
        prop_assert_eq!(parse(&format!("/search {words}")), Some(search(&words)));
    }
}

#[test]
fn fuzzed() {
    let seeds = COMMANDS.iter().map(|row| format!("/{} NAME 2 --in notes --since 2026-01-01 \"a b\" 08:30", row.name));
    let seeds: Vec<String> = seeds.collect();
    crate::fuzz::target("commands", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_start_matches('/')).collect();
        (parse(&text), parse_words(&words), code_in(&text).is_some())
    });
}
