//! The example loads and is complete, and the output of `init` has the meaning of the answers.

use super::super::{Home, SignalEndpoint, parse};
use super::*;
use crate::people::Role;

fn uncommented(text: &str) -> String {
    let bare = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => rest.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

fn load(text: &str) -> super::super::Config {
    let env = BTreeMap::from([("MODEL_KEY".to_owned(), "k".to_owned())]);
    parse(text, "compline.toml", &env, Home::at("/h")).unwrap_or_else(|error| panic!("{error}\n---\n{text}")).config
}

#[test]
fn the_committed_example_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/config/compline.example.toml");
    if std::env::var_os("WRITE_EXAMPLE").is_some() {
        std::fs::write(path, example()).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap();
    assert!(committed == example(), "{path} is out of date: run this test once with WRITE_EXAMPLE=1");
}

#[test]
fn the_example_loads_as_it_is_and_with_every_key_brought_in() {
    let bare = load(&example());
    assert!(bare.telegram.is_none() && bare.people.is_empty());
    let full = load(&uncommented(&example()));
    assert!(full.fallback.is_some() && full.transcription.is_some() && full.telegram.is_some());
    assert_eq!((full.people.len(), full.mcp.len()), (1, 1));
    assert_eq!(full.budget, bare.budget);
    assert_eq!(full.conversation, bare.conversation);
}

#[test]
fn every_key_stands_in_the_example_under_its_section() {
    let text = example();
    for section in SECTIONS.iter().filter(|section| section.form != SectionSpelling::Inline) {
        let heading = match section.form {
            _ if section.path.is_empty() => "\n".to_owned(),
            SectionSpelling::Repeated => format!("\n#[[{}]]\n", section.path),
            _ => format!("\n[{}]\n", section.path),
        };
        let (_, rest) = text.split_once(&heading).unwrap();
        let rest = format!("\n{rest}");
        let own = rest.split("\n[").next().unwrap().split("\n#[[").next().unwrap();
        for key in section.keys {
            let mark = if key.unset == Unset::Instead { "# or " } else { "#" };
            assert!(own.contains(&format!("\n{mark}{} = ", key.name)), "{} in [{}]", key.name, section.path);
        }
    }
}

/// Promise (operation/recipes): Each configuration in the recipes and guides loads as it stands.
#[test]
fn the_recipes_load() {
    let recipes = include_str!("../../../docs/recipes.md");
    let guides = [
        include_str!("../../../docs/cost.md"),
        include_str!("../../../docs/people.md"),
        include_str!("../../../docs/web-search.md"),
    ];
    let blocks = |page: &'static str| page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    assert!(blocks(recipes).count() >= 11, "{}", blocks(recipes).count());
    for block in blocks(recipes).chain(guides.into_iter().flat_map(blocks)) {
        // There is no key file here; the environment has a key.
        load(&block.replace("api_key_file = \"HOME/model.key\"", "api_key_env = \"MODEL_KEY\""));
    }
}

#[test]
fn the_configuration_from_init_loads_with_the_given_answers() {
    let ada = Person {
        name: "Ada".to_owned(),
        role: Role::Owner,
        telegram: Some(7),
        signal: None,
        prefer: None,
        zone: None,
        language: None,
        quiet_hours: Person::QUIET_HOURS.to_owned(),
    };
    let number = Some("+437654321".to_owned());
    let ben = Person {
        name: "Ben".to_owned(),
        role: Role::Member,
        telegram: None,
        signal: number,
        prefer: None,
        zone: None,
        language: None,
        quiet_hours: Person::QUIET_HOURS.to_owned(),
    };
    let answers = Answers {
        zone: "Europe/Vienna".to_owned(),
        provider: Provider::OpenAi,
        model: Some("m\"o'del\\".to_owned()),
        base_url: Some("https://llm.example.org/v1".to_owned()),
        api_key: Some(SecretFrom::Environment("MODEL_KEY".to_owned())),
        context_window: Some(65_536),
        images: Some(true),
        price: Some(Price { input: 3_000_000, cached: 300_000, output: 15_000_000 }),
        telegram: Some(SecretFrom::Inline(SecretString::from("42:abc"))),
        signal: Some(SignalAnswers {
            endpoint: "unix:HOME/signal.sock".to_owned(),
            account: Some("+431234567".to_owned()),
            command: ["signal-cli", "a \"b\"", "HOME/x"].map(str::to_owned).to_vec(),
        }),
        people: vec![ada.clone(), ben.clone()],
    };
    let config = load(&commented(&answers));
    assert_eq!(config.zone.name(), "Europe/Vienna");
    assert_eq!(config.model.name, "m\"o'del\\");
    assert_eq!(config.model.api_key.unwrap().expose_secret(), "k");
    assert_eq!((config.model.context_window, config.model.images), (65_536, true));
    assert_eq!(config.model.price, Some(Price { input: 3_000_000, cached: 300_000, output: 15_000_000 }));
    assert_eq!(config.telegram.unwrap().token.expose_secret(), "42:abc");
    assert_eq!(config.people, [ada, ben]);
    let signal = config.signal.unwrap();
    assert_eq!(signal.endpoint, SignalEndpoint::Unix("/h/signal.sock".into()));
    assert_eq!(signal.account.as_deref(), Some("+431234567"));
    assert_eq!(signal.command, ["signal-cli", "a \"b\"", "/h/x"]);
}

#[test]
fn the_shortest_init_is_the_offline_model() {
    let answers = Answers::default();
    let text = commented(&answers);
    assert_eq!(load(&text).model.provider, Provider::Offline);
    // Only the answers are set.
    let set: Vec<_> = text.lines().filter(|line| !line.starts_with(['#', '[']) && !line.is_empty()).collect();
    assert_eq!(set, ["timezone = \"UTC\"", "provider = \"offline\""]);
}
