//! Each command has its place on the page, or a reason why it has none: what reads, what acts, and
//! what only the command line has.

use clap::CommandFactory;
use compline::admin::command::{
    Action, BrowserChange, COMMANDS, HeartbeatChange, OpenItemChange, Query, SettingChange, parse,
};
use compline::cli::Cli;
use compline::web::Web;
use reqwest::StatusCode;

use crate::support::browser::Browser;
use crate::support::lived_in::{self, Story};
use crate::support::model::Scripted;

use Place::{Answer, At, Linked, None};

/// Place of a command.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A page that shows its answer or has its button, and what stands there.
    At(&'static str, &'static str),
    /// A page, part of the address of its last such link, and what stands behind that.
    Linked(&'static str, &'static str, &'static str),
    /// A page, a form of it, and what stands on its answer.
    Answer(&'static str, &'static [(&'static str, &'static str)], &'static str),
    /// Reason why it is not on the page.
    None(&'static str),
}

/// Defines the places of all variants of a type. A variant without a place does not compile.
macro_rules! places {
    ($name:ident: $command:ident; $($variant:ident => $place:expr,)*) => {
        const $name: &[(&str, Place)] = &[$((stringify!($variant), $place)),*];
        const _: fn($command) = |command| match command { $($command::$variant { .. } => (),)* };
    };
}

const IN_A_CHAT: &str = "concerns what was just sent to a chat, and is typed there, also on the page";
const ARCHIVES: &str = "reads an archive or folder of the computer, and belongs to whoever holds that";
const HEARTBEAT: &str = "is a file of the workspace, edited in words";

places! { QUERIES: Query;
    Start => None("a greeting, for those who have just come into a chat"),
    Help => At("/help", "/remember"),
    Whoami => At("/me", "You are <strong>Robin"),
    Settings => At("/me", "action=\"/me/settings\""),
    Trust => None(IN_A_CHAT),
    Status => At("/status", "Left today"),
    Usage => At("/usage", "<svg"),
    Models => At("/models", "asked first"),
    Tools => At("/models", "Outside tools"),
    Knowledge => At("/files", "action=\"/file-health\""),
    Reminders => At("/schedule", "value=\"/reminders cancel "),
    OpenItems => At("/", "<h2>Still open"),
    Heartbeat => None(HEARTBEAT),
    TickedItems => None(HEARTBEAT),
    Reflections => At("/reflections", "href=\"/reflections/1\""),
    Reflection => At("/reflections/1", "Planning the week"),
    Conversations => At("/conversations", "href=\"/conversations/1\""),
    Conversation => At("/conversations/1", "What is in season now?"),
    Search => At("/search", "name=\"q\""),
    Archive => None(ARCHIVES),
    Imports => None("lists what `compline import remove` takes away; what came in stands in the conversations"),
    People => At("/people", "href=\"/people/2\""),
    Strangers => At("/people", "value=\"admit\""),
    FormerPeople => Answer("/people", PAIR_YAN, "name=\"means\""),
    HandOverPlan => At("/people/3", "Hand over the workspace"),
    Pending => At("/", "href=\"/proposals/1\""),
    PendingProposals => At("/", "href=\"/proposals/1\""),
    Proposals => At("/proposals", "href=\"/proposals/2\""),
    Proposal => At("/proposals/1", "<h2>The change"),
    ProposalOrigin => At("/proposals/1", "<h2>Where it comes from"),
    Origin => At("/memory/pets", "Where it comes from"),
    FactOrigin => None("names a fact by its key, where the page says it of the note that holds the fact"),
    AnswerOrigin => At("/conversations/1", "How it was answered"),
    Skills => At("/skills", "href=\"/skills/market-list\""),
    Skill => At("/skills/market-list", "what is at home below it"),
    SkillHistory => At("/skills/market-list", "<h2>Versions"),
    SkillVersion => At("/skills/market-list?version=1", "Restore version 1"),
    SkillComparison => At("/skills/market-list?from=1&to=2", "+Write the list by shop, and"),
    Memory => At("/memory", "href=\"/memory/pets\""),
    AgentMemories => At("/memory", "Agents and profiles"),
    SearchMemory => At("/search", "name=\"in\""),
    Files => At("/files", "href=\"/files/plans\""),
    Note => At("/memory/pets", "Cat: Tom"),
    NoteHistory => At("/memory/MEMORY", "/memory/MEMORY?version="),
    NoteComparison => Linked("/memory/MEMORY", "?from=", "The note and all versions"),
    NoteVersion => Linked("/memory/MEMORY", "?version=", "The note and all versions"),
    WhereToEdit => At("/memory/pets", "?edit=1"),
    NoteToEdit => None("is the text for an editor of the computer"),
}

places! { ACTIONS: Action;
    SendFile => At("/files/plans/prices%2Ecsv", "href=\"/raw/plans/prices%2Ecsv"),
    New => At("/chat", "value=\"/new\""),
    Stop => At("/chat", "value=\"/stop\""),
    Yes => At("/", "value=\"/yes "),
    No => At("/", "value=\"/no "),
    Resend => None("is typed in a chat, also in that of the page, which names what was set aside"),
    CancelReminder => At("/schedule", "value=\"/reminders cancel "),
    FinishReminder => At("/chat", "value=\"/reminders done "),
    SnoozeReminder => At("/chat", "value=\"/reminders later "),
    ChangeOpenItems => At("/", "value=\"/open done "),
    ChangeHeartbeat => None(HEARTBEAT),
    Reflect => None("asks a model at once, so it is typed in a chat, also in that of the page"),
    PreferModel => At("/models", "action=\"/models/prefer\""),
    ForgetLearned => None("is typed in a chat, also in that of the page; what was learned stands with the models"),
    AcceptTool => At("/models", "action=\"/models/accept\""),
    RepairKnowledge => None("reads every file of the home again, so it is run on the computer"),
    Claim => None("makes the code of the first owner, before whom no one can sign in"),
    Link => At("/me", "action=\"/me/link\""),
    Browsers => At("/me", "action=\"/me/browsers/end\""),
    Pair => At("/people", "value=\"pair\""),
    PairNamesake => Answer("/people", PAIR_YAN, "value=\"new\""),
    Remove => At("/people/3", "value=\"remove\""),
    RemovePerson => At("/people/3", "value=\"remove\""),
    Unlink => At("/people/2", "value=\"unlink\""),
    AdmitStranger => At("/people", "value=\"admit\""),
    IgnoreStranger => At("/people", "value=\"ignore\""),
    Join => At("/people", "value=\"join\""),
    Apart => At("/people", "value=\"apart\""),
    HandOver => At("/people/3", "value=\"handover\""),
    Approve => At("/proposals/1", "action=\"/proposals/1/approve\""),
    Reject => At("/proposals/1", "action=\"/proposals/1/refuse\""),
    AcceptSkill => At("/proposals/1", "action=\"/proposals/1/approve\""),
    RollBack => At("/skills/market-list?version=1", "action=\"/skills/market-list/restore\""),
    ImportSkill => None(ARCHIVES),
    SkillFromNote => None("makes a proposal of a note; the assistant is asked for it in the chat"),
    Remember => At("/memory/MEMORY", "?edit=1"),
    Promote => At("/memory/untrusted/recipe", "value=\"promote\""),
    Vouch => None(IN_A_CHAT),
    TakeBack => None(IN_A_CHAT),
    SwitchMemory => At("/memory", "name=\"state\""),
    RestoreNote => Linked("/memory/MEMORY", "?version=", "value=\"restore\""),
    NoteEdited => None("says that an editor of the computer was closed; the page saves a note itself"),
    Forget => At("/memory/pets", "value=\"/forget "),
    ForgetPerson => None("deletes all of a person for good, and belongs to whoever holds the computer"),
    Import => None(ARCHIVES),
    RemoveImport => None("takes back what came from an archive, with the command that brought it"),
    ChangeSetting => At("/me", "action=\"/me/settings\""),
    Export => At("/me", "action=\"/me/export\""),
    ExportTo => None("writes into a file of the computer; the page gives each person their own"),
}

places! { SETTINGS: SettingChange;
    Language => At("/me", "value=\"language\""),
    Zone => At("/me", "value=\"zone\""),
}

places! { BROWSERS: BrowserChange;
    SignIn => None("makes a link that signs a browser in, and this one is signed in"),
    EndAll => At("/me", "action=\"/me/browsers/end-all\""),
}

places! { OPEN_ITEMS: OpenItemChange;
    Done => At("/", "value=\"/open done "),
    Drop => At("/", "value=\"/open drop "),
    Reopen => At("/", "value=\"/open undo "),
    Later => At("/", "value=\"/open later "),
    Add => None("is typed in a chat, also in that of the page"),
}

places! { HEARTBEATS: HeartbeatChange;
    AddOnce => None(HEARTBEAT),
    AddStanding => None(HEARTBEAT),
    Tick => None(HEARTBEAT),
    Untick => None(HEARTBEAT),
    Tidy => None(HEARTBEAT),
}

/// Commands of the command line that are no command of the above.
const COMMAND_LINE: &[(&str, Place)] = &[
    ("backup", At("/status", "<h2>Backups")),
    ("changelog", None("is printed from the program, and stands in its repository")),
    ("chat", At("/chat", "name=\"text\"")),
    ("completions", None("prints a script for the shell of the computer")),
    ("config", None("names keys and programs, so whoever changes it can run a program")),
    ("demo", None("shows an invented home in a terminal, before there is one")),
    ("doctor", At("/status", "What to look at")),
    ("init", None("writes the configuration, so whoever gives it can run a program")),
    ("manual", None("prints the manual of the commands, for the computer")),
    ("read-document", None("is a part of the gateway that reads documents, in a process of its own")),
    ("reload", None("reads the configuration again, which is changed on the computer")),
    ("restore", None("replaces the whole home with what a file holds, also who is an owner")),
    ("run", None("starts the gateway, and with it the page")),
    ("service", None("lets the computer run the gateway, so it runs a program")),
    ("signal", None("links the program to an account, with the telephone of that account")),
    ("standby", None("takes over from another machine, whose page is gone by then")),
    ("web", None("makes the link that signs a browser in")),
];

/// Commands of the command line that are sent to the gateway, as one of the above.
const SENT: &str = "conversations export files forget import memory model people reflect reflections reminders resend \
    review search skills status tools usage";

/// Routes of the forms. None of them restores the home or changes the configuration, keys or commands of
/// outside tools, which can run a program.
const FORMS: &str = "/act /chat /file-health /files /files/{*path} /login /login/person /me/browsers/end \
    /me/browsers/end-all /me/display /me/export /me/link /me/settings /memory /memory/{*note} /models/accept \
    /models/prefer /new-note /people /people/{id} /proposals/{id}/approve /proposals/{id}/refuse /seen /sign-out \
    /skills/{name}/restore /status/check";

const PAIR_YAN: &[(&str, &str)] = &[("act", "pair"), ("name", "Yan"), ("role", "member")];
/// Another owner, people who were removed, and someone of the name of one of them; an open item and a closed one.
const PEOPLE: &str = "
    INSERT INTO open_items (text, label, scope, opened_at, state, closed_at)
        SELECT 'order boxes', 'trusted', 'person:' || id, 1795200000000, 'open', NULL FROM people WHERE name = 'Robin'
        UNION SELECT 'call Ben', 'trusted', 'person:' || id, 1795200000000, 'done', 9995200000000 FROM people WHERE name = 'Robin';
    UPDATE people SET role = 'owner' WHERE name = 'Nora';
    INSERT INTO people (id, name, role, declared, created_at, removed_at)
        VALUES (91, 'Zoe', 'member', 'pairing', 1, 2), (92, 'Yan', 'member', 'pairing', 1, 2);
    INSERT INTO people (name, role, declared, created_at, namesake_id) VALUES ('Zoe', 'member', 'pairing', 3, 91);
";

/// The content of a place; nothing of one that is not on the page.
async fn shown(robin: &mut Browser, place: Place) -> Option<(String, &'static str)> {
    let (page, part) = match place {
        At(path, part) => (robin.get(path).await, part),
        Linked(path, link, part) => {
            let page = robin.get(path).await.text;
            let links = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
            let last = links.filter(|address| address.contains(link)).last();
            let address = last.unwrap_or_else(|| panic!("{path} has no link to {link}: {page}"));
            (robin.get(&address.replace("&amp;", "&")).await, part)
        }
        Answer(path, form, part) => (robin.post(path, form).await, part),
        None(_) => return Option::None,
    };
    assert_eq!(page.status, StatusCode::OK, "{place:?}: {}", page.text);
    Some((page.text.split_once("<main").unwrap().1.to_owned(), part))
}

async fn home() -> Story {
    let mut story = lived_in::everything().await;
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap().execute_batch(PEOPLE).unwrap();
    story.fall_back_to(Scripted::new(story.clock.clone()));
    story.restart().await;
    story
}

/// Promise (page/commands): The page restores no home and changes neither the configuration nor keys
/// nor commands of outside tools; every other command has its place there, or a written reason.
#[tokio::test]
async fn every_command_has_its_place_or_a_reason() {
    let story = home().await;
    let mut robin = Browser::of(story.app(), "Robin").await;
    let mut missing = Vec::new();
    for (name, place) in [QUERIES, ACTIONS, SETTINGS, BROWSERS, HEARTBEATS, OPEN_ITEMS, COMMAND_LINE].concat() {
        if let None(reason) = place {
            assert!(reason.split(' ').count() > 4, "{name}: {reason}");
        }
        if let Some((main, part)) = shown(&mut robin, place).await
            && !main.contains(part)
        {
            missing.push(format!("{name}: {place:?}: {main}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    story.stop_here().await;
}

/// Proves: page/commands
#[tokio::test]
async fn the_page_runs_only_commands_of_the_chat_and_has_no_other_form() {
    let mut forms: Vec<&str> = Web::table().iter().filter(|row| row.method != "GET").map(|row| row.path).collect();
    forms.sort_unstable();
    assert_eq!(forms, FORMS.split_whitespace().collect::<Vec<_>>(), "see what FORMS says before you add one");
    let listed: Vec<&str> = SENT.split_whitespace().chain(COMMAND_LINE.iter().map(|(name, _)| *name)).collect();
    for command in Cli::command().get_subcommands() {
        assert!(listed.contains(&command.get_name()), "{} has no place: give it one", command.get_name());
    }
    let story = lived_in::new().await;
    let mut robin = Browser::of(story.app(), "Robin").await;
    let typed = COMMAND_LINE.iter().map(|(name, _)| *name).chain(["claim", "knowledge", "import", "tools"]);
    for name in typed.filter(|name| !COMMANDS.iter().any(|row| row.name == *name)) {
        for line in [format!("/{name}"), format!("{name} x"), format!("/{name} /tmp/x")] {
            assert_eq!(parse(&line), Option::None, "{line}");
            assert_eq!(robin.post("/act", &[("command", &line)]).await.status, StatusCode::CONFLICT, "{line}");
        }
    }
    story.stop_here().await;
}
