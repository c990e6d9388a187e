//! Valid configurations: their interpretation, the sources of their values, and reading without
//! panics.

use super::super::keys::{SECTIONS, SectionSpelling, Unset, join, numbered};
use super::super::{Provider, ValueSource};
use super::*;
use proptest::prelude::*;
use secrecy::ExposeSecret;
use std::time::Duration;

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn reading(text: &str, pairs: &[(&str, &str)]) -> Result<LoadedConfig, ConfigError> {
    parse(text, "compline.toml", &env(pairs), Home::at("/home/ada/compline"))
}

fn sound(text: &str, pairs: &[(&str, &str)]) -> LoadedConfig {
    reading(text, pairs).unwrap_or_else(|error| panic!("{error}"))
}

fn broken(text: &str, pairs: &[(&str, &str)]) -> String {
    reading(text, pairs).expect_err(text).to_string()
}

fn line(loaded: &LoadedConfig, key: &str) -> (String, String) {
    let line = loaded.origins.iter().find(|line| line.key == key).unwrap_or_else(|| panic!("no {key}"));
    (line.value.clone(), line.origin.to_string())
}

#[test]
fn nothing_written_is_a_whole_configuration() {
    let loaded = sound("", &[]);
    let config = &loaded.config;
    assert_eq!(config.workspace, Path::new("/home/ada/compline/workspace"));
    assert_eq!(config.conversation.gap, Duration::from_hours(6));
    assert_eq!((config.model.provider, config.model.name.as_str()), (Provider::Offline, "offline"));
    assert_eq!((config.model.context_window, config.model.max_output, config.model.images), (16_384, 4096, false));
    assert_eq!((config.budget.daily.micros, config.budget.daily.tokens), (5_000_000, 2_000_000));
    assert_eq!((config.budget.per_person_daily.micros, config.budget.background_daily.tokens), (4_000_000, 400_000));
    assert!(config.fallback.is_none() && config.telegram.is_none() && config.people.is_empty());
    assert!(loaded.config.source.warnings.iter().any(|warning| warning.contains("timezone")));
    assert_eq!(line(&loaded, "conversation.gap"), ("6h".to_owned(), "default".to_owned()));
}

#[test]
fn each_provider_has_default_capabilities() {
    let table = [
        ("openai", "api_key = \"k\"", 128_000, true),
        ("openai", "base_url = \"http://localhost:8000/v1/\"", 32_768, false),
        ("anthropic", "api_key = \"k\"", 200_000, true),
        ("gemini", "api_key = \"k\"", 1_000_000, true),
        ("ollama", "", 8_192, false),
    ];
    for (provider, more, window, images) in table {
        let model = sound(&format!("[model]\nprovider = \"{provider}\"\nname = \"m\"\n{more}"), &[]).config.model;
        assert_eq!((model.context_window, model.images), (window, images), "{provider} {more}");
        assert!(model.base_url.is_none_or(|url| url == "http://localhost:8000/v1"));
    }
}

const WHOLE: &str = r#"
timezone = "Asia/Kathmandu"
workspace = "HOME/knowledge"
[conversation]
gap = "1h30m"
[model]
provider = "anthropic"
name = "big"
api_key = "sk-inline"
price = { input = 3, output = 15.25 }
[model.fallback]
provider = "ollama"
name = "small"
[telegram]
token = "42:abc"
[[people]]
name = "Ada"
role = "owner"
telegram = 7
[[people]]
name = "Zoë-Marie 2"
"#;

#[test]
fn everything_comes_with_its_origin() {
    let loaded = sound(WHOLE, &[("COMPLINE__MODEL__FALLBACK__NAME", "tiny"), ("WORKSPACE_PATH", "/srv/w")]);
    let config = &loaded.config;
    let price = config.model.price.unwrap();
    assert_eq!((price.input, price.cached, price.output), (3_000_000, 3_000_000, 15_250_000));
    assert_eq!(config.fallback.as_ref().unwrap().name, "tiny");
    assert_eq!(config.workspace, Path::new("/srv/w"));
    assert_eq!(config.people.len(), 2);
    let file = |line: usize| format!("compline.toml:{line}");
    assert_eq!(line(&loaded, "model.api_key"), ("(hidden)".to_owned(), file(9)));
    assert_eq!(line(&loaded, "people[2].name"), ("Zoë-Marie 2".to_owned(), file(21)));
    let variable = "environment variable COMPLINE__MODEL__FALLBACK__NAME";
    assert_eq!(line(&loaded, "model.fallback.name"), ("tiny".to_owned(), variable.to_owned()));
    assert_eq!(loaded.config.source.secret_files, [PathBuf::from("compline.toml")]);
    let lines = serde_json::to_string(&loaded.origins).unwrap();
    assert!(!lines.contains("sk-inline") && !lines.contains("42:abc") && !format!("{loaded:?}").contains("sk-inline"));
}

#[test]
fn secrets_are_found_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("key"), "from-file\n").unwrap();
    let model = |how: &str| format!("[model]\nprovider = \"gemini\"\nname = \"m\"\n{how}");
    let read = |how: &str, pairs: &[(&str, &str)]| {
        parse(&model(how), "c.toml", &env(pairs), Home::at(dir.path())).unwrap_or_else(|error| panic!("{error}"))
    };
    let key = |loaded: &LoadedConfig| loaded.config.model.api_key.as_ref().unwrap().expose_secret().to_owned();
    let from_file = read("api_key_file = \"HOME/key\"", &[]);
    assert_eq!(key(&from_file), "from-file");
    assert_eq!(from_file.config.source.secret_files, [dir.path().join("key")]);
    assert_eq!(key(&read("api_key_env = \"MY_KEY\"", &[("MY_KEY", "from-env")])), "from-env");
    let over = read("api_key_env = \"MY_KEY\"", &[("COMPLINE__MODEL__API_KEY", "over")]);
    assert_eq!((key(&over).as_str(), over.config.source.secret_files.len()), ("over", 0));
}

#[test]
fn the_environment_alone_is_enough() {
    let pairs = [
        ("COMPLINE__TIMEZONE", "Europe/Vienna"),
        ("COMPLINE__MODEL__PROVIDER", "openai"),
        ("COMPLINE__MODEL__NAME", "m"),
        ("COMPLINE__MODEL__BASE_URL", "https://llm.example.org/v1"),
        ("COMPLINE__MODEL__PRICE__INPUT", "0.15"),
        ("COMPLINE__MODEL__PRICE__OUTPUT", "0.60"),
        ("COMPLINE__MODEL__TEMPERATURE", ""),
        ("COMPLINE__TOOLS__WEB_FETCH", "false"),
        ("COMPLINE__PEOPLE__1__NAME", "Ada"),
        ("COMPLINE__PEOPLE__1__TELEGRAM", "7"),
        ("COMPLINE__PEOPLE__2__NAME", "Ben"),
        ("COMPLINE_HOME", "/elsewhere"),
    ];
    let config = sound("", &pairs).config;
    assert_eq!(config.zone.name(), "Europe/Vienna");
    assert_eq!(config.model.price.unwrap().input, 150_000);
    assert!(!config.tools.web_fetch);
    assert_eq!(config.people.iter().map(|person| person.telegram).collect::<Vec<_>>(), [Some(7), None]);
}

#[test]
fn files_that_cannot_be_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| load(Home::at(dir.path()), &dir.path().join(name), &BTreeMap::new());
    let missing = at("none.toml").unwrap_err();
    assert!(matches!(&missing, ConfigError::Missing { .. }) && missing.to_string().contains("compline init"));
    assert!(matches!(at(""), Err(ConfigError::Unreadable { .. })));
    let owner = match std::fs::metadata(dir.path()).unwrap().uid() {
        0 => "as root: sudo compline".to_owned(),
        uid => format!("sudo -u '#{uid}' compline"),
    };
    let fix = fix_permission(&dir.path().join("closed/compline.toml"));
    assert!(fix.contains(&owner), "{fix}");
    std::fs::write(dir.path().join("latin.toml"), b"timezone = \"UTC\"\n# caf\xe9").unwrap();
    let told = at("latin.toml").unwrap_err().to_string();
    assert!(told.contains("latin.toml, line 2, column 6: This is no UTF-8 text"), "{told}");
    std::fs::write(dir.path().join("bom.toml"), "\u{feff}timezone = \"UTC\"\r\n").unwrap();
    assert!(at("bom.toml").unwrap().config.source.warnings.is_empty());
}

#[cfg(unix)]
#[test]
fn a_readable_file_with_a_secret_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("compline.toml");
    std::fs::write(&file, "timezone = \"UTC\"\n[telegram]\ntoken = \"42:abc\"").unwrap();
    for (mode, warnings) in [(0o644, 1), (0o600, 0)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let loaded = load(Home::at(dir.path()), &file, &BTreeMap::new()).unwrap();
        assert_eq!(loaded.config.source.warnings.len(), warnings, "{:?}", loaded.config.source.warnings);
    }
}

#[test]
fn a_key_in_the_clear_is_warned_of() {
    let model = |url: &str| {
        format!(
            "timezone = \"UTC\"\n[model]\nprovider = \"openai\"\nname = \"m\"\napi_key = \"k\"\nbase_url = \"{url}\""
        )
    };
    for (url, warnings) in [
        ("http://10.0.0.2/v1", 1),
        ("https://10.0.0.2/v1", 0),
        ("http://127.0.0.1:80/v1", 0),
        ("http://localhost/v1", 0),
    ] {
        assert_eq!(sound(&model(url), &[]).config.source.warnings.len(), warnings, "{url}");
    }
}

/// Proves: gate/own-reviewer
#[test]
fn a_reviewer_of_its_own_is_another_model_or_on_another_server() {
    let models = "timezone = \"UTC\"\n[model]\nprovider = \"ollama\"\nname = \"author\"\n\
        [model.background]\nprovider = \"ollama\"\nname = \"summariser\"\n";
    let there = "base_url = \"http://localhost:9/\"\n";
    for (reviewer, is_own) in [
        (String::new(), false),
        ("provider = \"ollama\"\nname = \"author\"\n".to_owned(), false),
        ("provider = \"ollama\"\nname = \"Author\"\n".to_owned(), false),
        ("provider = \"ollama\"\nname = \"summariser\"\n".to_owned(), false),
        ("provider = \"offline\"\n".to_owned(), false),
        ("provider = \"ollama\"\nname = \"reader\"\n".to_owned(), true),
        (format!("provider = \"ollama\"\nname = \"author\"\n{there}"), true),
    ] {
        let section = if reviewer.is_empty() { String::new() } else { format!("[model.reviewer]\n{reviewer}") };
        for (setting, asks) in [
            ("[skills]\nreview = \"ai\"\n", true),
            ("[reflection]\nreview_mode = \"ai\"\n", true),
            ("[reflection]\nreview_mode = \"none\"\n", false),
        ] {
            let loaded = sound(&format!("{models}{section}{setting}"), &[]);
            assert_eq!(loaded.config.own_reviewer().is_some(), is_own, "{reviewer}");
            let warned = loaded.config.source.warnings.iter().any(|warning| warning.contains("no reviewer of its own"));
            assert_eq!(warned, asks && !is_own, "{reviewer}{setting}: {:?}", loaded.config.source.warnings);
        }
    }
}

#[test]
fn every_key_is_read_and_shown() {
    let mut text = super::super::example::example().lines().fold(String::new(), |text, line| {
        text + line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line) + "\n"
    });
    let secret = "a-long-random-word";
    let lines = |text: &str| sound(text, &[("SOME_KEY", "1:x"), ("SOME_SECRET", secret)]).origins;
    let mut shown: Vec<_> = lines(&text).into_iter().filter(|line| line.origin != ValueSource::Default).collect();
    for (name, variable) in [("api_key", "SOME_KEY"), ("token", "SOME_KEY"), ("webhook_secret", "SOME_SECRET")] {
        text = text.replace(&format!("\n{name} = "), &format!("\n{name}_env = \"{variable}\" # "));
    }
    shown.extend(lines(&text));
    let dir = tempfile::tempdir().unwrap();
    for (variable, value) in [("SOME_KEY", "1:x"), ("SOME_SECRET", secret)] {
        let file = dir.path().join(variable);
        std::fs::write(&file, value).unwrap();
        let named = format!("_file = \"{}\" # ", file.display());
        text = text.replace(&format!("_env = \"{variable}\" # "), &named);
    }
    let text = text.replace("\ncommand = [\"mcp", "\nurl = \"http://127.0.0.1:1/mcp\" # [\"mcp");
    shown.extend(lines(&text));
    for section in SECTIONS {
        for key in section.keys {
            let at = if section.form == SectionSpelling::Repeated {
                numbered(section.path, 1)
            } else {
                section.path.to_owned()
            };
            let path = join(&at, key.name);
            assert!(shown.iter().any(|line| line.key == path), "{path} is in the table but never read");
        }
    }
}

#[test]
fn every_fixed_default_is_sound() {
    let shown = sound("", &[]).origins;
    for section in SECTIONS.iter().filter(|section| !section.path.contains('.')) {
        for key in section.keys {
            let Unset::Is(default) = key.unset else { continue };
            let path = join(section.path, key.name);
            let line = shown.iter().find(|line| line.key == path);
            let is_off = section.form == SectionSpelling::Repeated || matches!(section.path, "telegram" | "signal");
            assert!(is_off || line.is_some_and(|line| line.value == default), "{path}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = reading(&text, &[]).map_err(|error| error.to_string());
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("c.toml");
        std::fs::write(&file, bytes).unwrap();
        let _ = load(Home::at(dir.path()), &file, &BTreeMap::new()).map_err(|error| error.to_string());
    }

    #[test]
    fn no_likely_text_panics(
        lines in proptest::collection::vec((0..SECTIONS.len(), any::<prop::sample::Index>(), "[-\"'{}\\[\\]=#.a-z0-9é\\\\]{0,12}"), 0..12),
    ) {
        let mut text = String::new();
        for (number, index, value) in lines {
            let section = &SECTIONS[number];
            let key = &section.keys[index.index(section.keys.len())];
            let value = if value.starts_with('a') { key.sample.to_owned() } else { value };
            text += &format!("[{}]\n{} = {value}\n", section.path, key.name);
        }
        let _ = reading(&text, &[]).map_err(|error| error.to_string());
    }

    #[test]
    fn no_environment_panics(name in "COMPLINE__[A-Z_0-9é]{0,20}", value in any::<String>()) {
        let _ = reading("", &[(&name, &value)]).map_err(|error| error.to_string());
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("compline.toml");
    std::fs::write(&file, "").unwrap();
    for (mode, is_found) in [(0o600, false), (0o400, false), (0o640, true), (0o644, true)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(mode_finding(&file).map(|finding| finding.mode), is_found.then_some(mode));
    }
    assert_eq!(mode_finding(&dir.path().join("none")), None);
}

const CANARY: &str = "sk-CANARY0123456789";

#[test]
fn every_configuration_error_names_its_place_and_fix() {
    let model = |rest: &str| format!("[model]\nprovider = \"openai\"\nname = \"m\"\n{rest}");
    let ada = "[[people]]\nname = \"Ada\"\ntelegram = 7\n";
    let table: Vec<(String, Vec<&str>)> = vec![
        (
            "[conversation]\ngpa = \"6h\"".into(),
            vec![
                "compline.toml, line 2, column 1",
                "conversation.gpa",
                "no key \"gpa\" in [conversation]",
                "fix: write gap",
                "gpa = (hidden)",
            ],
        ),
        ("[conversatoin]\ngap = \"6h\"".into(), vec!["line 1, column 2", "\"conversatoin\"", "write conversation"]),
        ("gap = \"6h\"".into(), vec!["line 1, column 1", "gap belongs in [conversation]"]),
        ("[tools]\nzzz = 1".into(), vec!["tools.zzz", "delete it; known here: web_fetch"]),
        (
            "[conversation]\n\n  gap = \"6x\"".into(),
            vec![
                "line 3, column 9",
                "conversation.gap: \"6x\" is no duration",
                "3 |   gap = \"6x\"\n  |         ^^^^",
                "\"1h30m\"",
            ],
        ),
        ("[conversation]\ngap = 6".into(), vec!["line 2", "text in quotes, and is a number", "gap = \"6h\""]),
        ("[conversation]\ngap = \"59s\"".into(), vec!["out of bounds", "from \"1m\" to \"7d\""]),
        ("[conversation]\njoin_within = \"6s\"".into(), vec!["conversation.join_within", "to \"5s\""]),
        ("[budget]\ndaily = \"5\"".into(), vec!["budget.daily", "a number, without quotes", "daily = 5.00"]),
        ("[budget]\ndaily = 0".into(), vec!["nothing to spend"]),
        ("[budget]\ndaily = -1.5".into(), vec!["\"-1.5\" is no amount of money"]),
        ("[budget]\ntool_rounds = 0".into(), vec!["from 1 to 100"]),
        ("[tools]\nweb_fetch = \"yes\"".into(), vec!["true or false, without quotes"]),
        ("timezone = \"Europe/Wien\"".into(), vec!["timezone", "no time zone \"Europe/Wien\"", "fix: write \"Europe/"]),
        ("timezone = \"vienna\"".into(), vec!["write \"Europe/Vienna\""]),
        ("workspace = \"notes\"".into(), vec!["depends on where Compline is started", "HOME/"]),
        (format!("{ada}[[people]]\nname = \"ADA\""), vec!["line 5", "people[2].name", "another \"ADA\""]),
        (format!("{ada}[[people]]\nname = \"Ben\"\ntelegram = 7"), vec!["people[2].telegram", "id 7"]),
        ("[[people]]\nname = \"Guest\"".into(), vec!["people[1].name", "strangers"]),
        ("[[people]]\nname = \"../up\"".into(), vec!["cannot be a name", "1 to 40 letters"]),
        ("[[people]]\nname = \" Ada\"".into(), vec!["cannot be a name"]),
        ("[[people]]\nname = \"Ada\"\nrole = \"guest\"".into(), vec!["line 3", "\"guest\" is no role"]),
        ("[[people]]\nname = \"Ada\"\ntelegram = -100".into(), vec!["that of a group"]),
        ("[[people]]\nrole = \"owner\"".into(), vec!["people[1].name: name is missing"]),
        ("[people]\nname = \"Ada\"".into(), vec!["write [[people]]"]),
        ("[[model]]\nname = \"m\"".into(), vec!["model is a section", "write [model]"]),
        (
            model("api_key = \"a\"\napi_key_env = \"B\""),
            vec!["line 5", "More than one of api_key, api_key_env and api_key_file", "keep one"],
        ),
        (model("api_key_env = \"NOT_SET\""), vec!["line 4", "model.api_key_env", "variable NOT_SET is not set"]),
        (model("api_key_file = \"/nowhere/at/all\""), vec!["\"/nowhere/at/all\" cannot be read"]),
        (model("api_key = \"\""), vec!["It is empty"]),
        (model(""), vec!["model.api_key: openai answers nobody without a key", "base_url for a server of your own"]),
        (model("base_url = \"ftp://example.org\""), vec!["model.base_url", "https:// or http://"]),
        (model("base_url = \"example.org/v1\""), vec!["no address of a server"]),
        (model("api_key = \"k\"\nprice = 3"), vec!["model.price must be a group", "price = { input = 3.00"]),
        (model("api_key = \"k\"\nprice = { input = 3 }"), vec!["model.price.output", "price of output is missing"]),
        (model("api_key = \"k\"\nmax_output = 200000"), vec!["model.max_output", "to 127999"]),
        (model("api_key = \"k\"\ntemperature = 3.5"), vec!["between 0 and 2"]),
        ("[model]\nprovider = \"opena\"".into(), vec!["no provider \"opena\"", "write \"openai\""]),
        ("[model]\nprovider = \"ollama\"".into(), vec!["model.name: name is missing"]),
        ("[model]\nname = \"m\"".into(), vec!["[model] has no provider", "add provider"]),
        ("[model.fallback]\nname = \"m\"".into(), vec!["[model.fallback] has no provider"]),
        ("[transcription]\nname = \"w\"".into(), vec!["transcription.base_url: base_url is missing"]),
        ("[telegram]\napi_url = \"http://127.0.0.1:1\"".into(), vec!["telegram.token: token is missing"]),
        ("[telegram]\ntoken = \"abc\"".into(), vec!["no token of a Telegram bot", "token = (hidden)"]),
        ("[retention]\nlogs_days = 0".into(), vec!["retention.logs_days"]),
        ("a = 1\nb = \"".into(), vec!["line 2", "This is no TOML"]),
        ("[tools]\nweb_fetch = true\nweb_fetch = true".into(), vec!["line 3", "duplicate key"]),
    ];
    for (text, fragments) in table {
        let told = broken(&text, &[]);
        for fragment in fragments.into_iter().chain(["compline.toml, line ", "\nfix: "]) {
            assert!(told.contains(fragment), "{text}\n---\n{told}\n--- lacks {fragment}");
        }
    }
}

#[test]
fn all_configuration_errors_are_reported_at_once_in_file_order() {
    let told = broken("timezone = 1\n[conversation]\ngap = \"x\"\n[tools]\nwebfetch = true", &[]);
    let places: Vec<_> = told.lines().filter(|line| line.starts_with("compline.toml")).collect();
    assert_eq!(places.len(), 3, "{told}");
    assert!(places.is_sorted(), "{told}");
}

#[test]
fn a_broken_environment_names_the_variable() {
    let table = [
        ("COMPLINE__CONVERSATION__GAP", "6x", "conversation.gap: \"6x\" is no duration"),
        ("COMPLINE__MODEL__NAM", "m", "write name"),
        ("COMPLINE__MODLE__NAME", "m", "write model"),
        ("COMPLINE__PEOPLE__3__NAME", "Ada", "a number from 1 to 1"),
        ("COMPLINE__PEOPLE__NAME", "Ada", "COMPLINE__PEOPLE__1__NAME"),
        ("COMPLINE__MCP__2__NAME", "files", "COMPLINE__MCP__1__NAME with a number from 1 to 1"),
        ("COMPLINE__MCP__1__COMMAND", "serve", "\"serve\" is no list of texts"),
        ("COMPLINE__TOOLS__WEB_FETCH", "yes", "neither true nor false"),
        ("COMPLINE__", "x", "fix: "),
    ];
    for (variable, value, fragment) in table {
        let told = broken("", &[(variable, value)]);
        assert!(told.starts_with(&format!("Environment variable {variable}: ")), "{told}");
        assert!(told.contains(fragment), "{told}");
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_not_repeated() {
    let model = |rest: &str| format!("[model]\nprovider = \"gemini\"\nname = \"m\"\n{rest}");
    let table = [
        format!("api_key_env = \"{CANARY}\""),
        format!("api_key_file = \"{CANARY}\""),
        format!("api_kye = \"{CANARY}\""),
        format!("api_key = [\"{CANARY}\"]"),
        format!("api_key: \"{CANARY}\""),
        format!("api_key = \"{CANARY}"),
        format!("api_key = {CANARY}"),
        format!("api_key = \"{CANARY} x\""),
        format!("api_key = \"\"\"\n{CANARY}"),
        format!("base_url = \"https://me:{CANARY}@example.org\""),
        format!("base_url = \"ftp://me:{CANARY}@example.org\""),
        format!("api_key = \"a\"\napi_key_env = \"{CANARY}\""),
    ];
    for rest in table {
        let told = broken(&model(&rest), &[]);
        assert!(!told.contains(CANARY), "{rest}\n---\n{told}");
    }
    assert!(!broken("", &[("COMPLINE__TELEGRAM__TOKEN", CANARY)]).contains(CANARY));
}

proptest! {
    #[test]
    fn no_slip_of_the_hand_shows_a_secret(at in any::<prop::sample::Index>(), cut in 0_usize..4, typed in "[\n\"'=\\[\\]{}#,. a]{0,2}") {
        let text = WHOLE.replace("sk-inline", CANARY).replace("42:abc", CANARY);
        let start = at.index(text.len());
        prop_assume!(text.is_char_boundary(start) && text.is_char_boundary((start + cut).min(text.len())));
        let (before, rest) = text.split_at(start);
        let after = rest.get(cut..).unwrap_or_default();
        let slipped = format!("{before}{typed}{after}");
        // A typo inside the canary leaves half of it, which this test would not detect.
        prop_assume!(slipped.matches(CANARY).count() == 2);
        if let Err(error) = reading(&slipped, &[]) {
            prop_assert!(!error.to_string().contains(CANARY), "{}", error);
        }
    }
}
