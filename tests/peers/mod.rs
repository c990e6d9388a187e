//! The wires against servers that this project did not write, and the skills against texts and a
//! judge that it did not write.
//!
//! One program from npm plays all providers; its answers stand in `tests/peers/fixtures.json`. What
//! it cannot play (errors within a stream, silence, cached tokens of Anthropic and Gemini) is
//! played by the wires' own tests. A public collection of skills, also from npm, shows that what
//! many people wrote loads; the reference validator of the format, from PyPI, shows that we judge
//! as it does.
//!
//! The whole program meets four more: an emulator of the Bot API, a real llama.cpp whose model says
//! nothing but nonsense, and the real daemon of signal-cli, which has no account and no network.
//! The official clients of five providers, from PyPI, judge our requests by their own types.
//! Litestream, from PyPI, streams the journal of one that is killed to one that takes over.

mod llama;
mod program;
mod proxy;
mod requests;
mod signal;
mod standby;
mod telegram;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compline::config::{self, Provider};
use compline::model::{
    self, Message, Model, ModelError, NullSink, Purpose, Reply, Request, RequestPart, Role, Stop, StreamSink, ToolCall,
    ToolSpec, Usage,
};
use compline::skill::{self, MAIN, SkillCache, manifest};
use compline::trust::{Label, Labelled, Scope};

/// A picture of one red pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

/// Something of the peers, which are installed before the tests.
fn installed(path: &str) -> PathBuf {
    let home = std::env::var_os("COMPLINE_PEERS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers"), PathBuf::from);
    let path = home.join(path);
    assert!(path.exists(), "The peers of tests/peers are not installed: run `bash tests/run.sh peers`");
    path
}

/// The providers' mock, for as long as this value lives.
struct Peer {
    url: String,
    process: Child,
}

impl Peer {
    fn start() -> Self {
        installed("node_modules/@copilotkit/aimock/package.json");
        let mut process = Command::new("node")
            .arg(installed("start.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node.js is needed for the peers: install it and run `bash tests/run.sh`");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("ready ").expect("the peer says that it is ready").to_owned();
        Self { url, process }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Each protocol, as its provider and the end of the address.
const WIRES: [(Provider, &str); 6] = [
    (Provider::OpenAi, ""),
    (Provider::OpenAi, "/v1/responses"),
    (Provider::Ollama, ""),
    (Provider::Ollama, "/v1"),
    (Provider::Anthropic, ""),
    (Provider::Gemini, ""),
];

fn wire(provider: Provider, url: &str) -> Arc<dyn Model> {
    model::build(&config::Model {
        provider,
        name: "mock-1".to_owned(),
        base_url: Some(url.to_owned()),
        api_key: Some("test-key".into()),
        context_window: 10_000,
        max_output: 500,
        temperature: None,
        images: true,
        price: None,
        patience: Duration::from_secs(10),
    })
    .unwrap()
}

fn labelled<T>(value: T) -> Labelled<T> {
    Labelled::new(value, Label::trusted(), Scope::Shared)
}

fn ask(question: &str) -> Request {
    let mut request = Request::new(Scope::Shared, Purpose::Chat);
    request.text(Role::System, labelled(Arc::from("Be brief."))).unwrap();
    request.text(Role::User, labelled(Arc::from(question))).unwrap();
    let schema = serde_json::json!({
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
    });
    let weather = ToolSpec { name: "weather".to_owned(), description: "The weather of a city".to_owned(), schema };
    request.with_tools(Arc::from([weather]))
}

fn text(reply: &Reply) -> &str {
    reply.text().open().0
}

fn calls(reply: &Reply) -> Vec<ToolCall> {
    reply.calls().iter().map(|call| call.open().0.clone()).collect()
}

/// The question again, with the calls that were made and what they gave.
fn go_on(question: &str, calls: &[ToolCall]) -> Request {
    let mut request = ask(question);
    let mut made = Message::new(Role::Assistant);
    let mut gave = Message::new(Role::Tool);
    for call in calls {
        let (id, name): (Arc<str>, Arc<str>) = (call.id.as_str().into(), call.name.as_str().into());
        made.push(labelled(RequestPart::Call {
            id: Arc::clone(&id),
            name: Arc::clone(&name),
            arguments: call.arguments.as_str().into(),
            extra: call.extra.as_str().into(),
        }));
        gave.push(labelled(RequestPart::Result { id, name, text: "21 degrees".into() }));
    }
    request.push(Arc::new(made)).unwrap();
    request.push(Arc::new(gave)).unwrap();
    request
}

#[derive(Default)]
struct Watched(Mutex<Vec<String>>);

impl StreamSink for Watched {
    fn append(&self, delta: &str) {
        self.0.lock().unwrap().push(delta.to_owned());
    }

    fn restart(&self) {
        panic!("a wire begins an answer once");
    }
}

/// Promise (models/protocols): Any model that speaks a supported protocol works, including
/// streaming, tools, images, busy servers and interrupted answers.
#[tokio::test]
async fn an_answer_is_streamed_and_whole() {
    let peer = Peer::start();
    for (provider, path) in WIRES {
        let watched = Watched::default();
        let reply = wire(provider, &peer.at(path)).call(&ask("plain"), &watched).await.unwrap();
        assert_eq!(text(&reply), "Grüß Gott, this is a plain answer in several pieces.", "{provider:?}");
        assert_eq!(reply.stop, Stop::End, "{provider:?}");
        let seen = watched.0.lock().unwrap();
        assert!(seen.len() > 3, "{provider:?} streams: {seen:?}");
        assert_eq!(seen.concat(), text(&reply), "{provider:?}");
    }
}

/// Proves: models/protocols
#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back() {
    let peer = Peer::start();
    for (provider, path) in WIRES {
        let model = wire(provider, &peer.at(path));
        let reply = model.call(&ask("one tool"), &NullSink).await.unwrap();
        let made = calls(&reply);
        assert_eq!((reply.stop, made.len()), (Stop::Tools, 1), "{provider:?}");
        assert_eq!((made[0].name.as_str(), made[0].arguments.as_str()), ("weather", r#"{"city":"Vienna"}"#));
        assert!(!made[0].id.is_empty(), "{provider:?}");
        let reply = model.call(&go_on("one tool", &made), &NullSink).await.unwrap();
        assert_eq!(text(&reply), "It is 21 degrees in Vienna.", "{provider:?}");
    }
}

#[tokio::test]
async fn two_tools_at_once_are_kept_apart() {
    let peer = Peer::start();
    for (provider, path) in WIRES {
        let model = wire(provider, &peer.at(path));
        let made = calls(&model.call(&ask("two tools"), &NullSink).await.unwrap());
        let arguments: Vec<&str> = made.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, [r#"{"city":"Vienna"}"#, r#"{"city":"Oslo"}"#], "{provider:?}");
        assert_ne!(made[0].id, made[1].id, "{provider:?}");
        let reply = model.call(&go_on("two tools", &made), &NullSink).await.unwrap();
        assert_eq!(text(&reply), "Vienna is warmer than Oslo.", "{provider:?}");
    }
}

#[tokio::test]
async fn a_picture_is_taken() {
    let peer = Peer::start();
    for (provider, path) in WIRES {
        let mut question = Message::of(Role::User, labelled(Arc::from("picture")));
        question.push(labelled(RequestPart::Image { mime: "image/png".into(), bytes: PIXEL.into() }));
        let mut request = Request::new(Scope::Shared, Purpose::Chat);
        request.push(Arc::new(question)).unwrap();
        let reply = wire(provider, &peer.at(path)).call(&request, &NullSink).await.unwrap();
        assert_eq!(text(&reply), "A small red square.", "{provider:?}");
    }
}

/// Proves: models/protocols
#[tokio::test]
async fn a_server_that_is_busy_or_broken_is_asked_later() {
    let peer = Peer::start();
    for (provider, path) in WIRES {
        let model = wire(provider, &peer.at(path));
        let later = |seconds: Option<u64>, what: &str| ModelError::Later {
            after: seconds.map(Duration::from_secs),
            what: what.to_owned(),
        };
        let busy = model.call(&ask("busy"), &NullSink).await.unwrap_err();
        assert_eq!(busy, later(Some(7), "HTTP 429"), "{provider:?}");
        let broken = model.call(&ask("broken"), &NullSink).await.unwrap_err();
        assert_eq!(broken, later(None, "HTTP 503"), "{provider:?}");
    }
}

/// Proves: models/protocols
#[tokio::test]
async fn an_answer_that_is_cut_off_is_no_answer() {
    let peer = Peer::start();
    for (provider, path) in WIRES {
        let cut = wire(provider, &peer.at(path)).call(&ask("cut"), &NullSink).await;
        assert_eq!(cut.unwrap_err(), ModelError::Cut, "{provider:?}");
    }
}

#[tokio::test]
async fn the_providers_token_counts_are_passed_on() {
    let peer = Peer::start();
    // The peer counts nothing where it plays Ollama.
    for (provider, path) in WIRES.into_iter().filter(|wire| *wire != (Provider::Ollama, "")) {
        let reply = wire(provider, &peer.at(path)).call(&ask("counted"), &NullSink).await.unwrap();
        assert_eq!((reply.usage.input, reply.usage.output), (100, 5), "{provider:?}");
    }
    // The peer tells of cached tokens only where it plays OpenRouter.
    let router = wire(Provider::OpenAi, &peer.at("/api/v1"));
    let reply = router.call(&ask("counted"), &NullSink).await.unwrap();
    assert_eq!(reply.usage, Usage { input: 100, cached: 64, output: 5 });
}

/// The folders of a public collection that hold skills, in their order.
fn collections() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut left = vec![installed("node_modules/ecc-universal")];
    while let Some(folder) = left.pop() {
        let inside = |entry: std::fs::DirEntry| entry.path().is_dir().then(|| entry.path());
        left.extend(std::fs::read_dir(&folder).unwrap().filter_map(|entry| inside(entry.unwrap())));
        if folder.join(MAIN).is_file() {
            found.insert(folder.parent().unwrap().to_owned());
        }
    }
    found
}

/// The names of the folders in this one that hold a skill.
fn skills_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join(MAIN).is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// How many faults the reference validator finds in each of these folders.
fn judged(folders: &[PathBuf]) -> Vec<usize> {
    const ASK: &str = "import sys, pathlib\nfrom skills_ref.validator import validate\n\
                       for path in sys.argv[1:]: print(len(validate(pathlib.Path(path))))";
    let asked = Command::new(installed("venv/bin/python")).args(["-c", ASK]).args(folders).output().unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    String::from_utf8(asked.stdout).unwrap().lines().map(|count| count.parse().unwrap()).collect()
}

/// Promise (skills/open-format): Every skill in the open format works, in all common ways of
/// writing it; a broken one is named with its fault and does not affect the others, and none is
/// read before it is needed.
#[test]
fn every_skill_of_a_public_collection_loads() {
    let mut count = 0;
    for folder in collections() {
        let catalogue = SkillCache::new(folder.clone()).look();
        assert_eq!(catalogue.broken, [], "{}", folder.display());
        assert_eq!(catalogue.skills.keys().cloned().collect::<Vec<_>>(), skills_in(&folder), "{}", folder.display());
        for skill in catalogue.skills.values().filter(|skill| skill.content.text(MAIN).unwrap().starts_with("---")) {
            let what = format!("{}: the description stands in the front matter", skill.folder);
            assert_eq!(skill.manifest.form, manifest::ManifestFormat::FrontMatter, "{what}");
        }
        let skills = catalogue.skills.values().map(|skill| (skill.folder.as_str(), &skill.manifest));
        let bullets = skill::listing(skills, 2_000).lines().filter(|line| line.starts_with("- ")).count();
        assert_eq!(bullets, catalogue.skills.len(), "{}", folder.display());
        count += bullets;
    }
    assert!(count >= 719, "only {count} skills were found");
}

/// Proves: skills/built-in
#[test]
fn the_reference_validator_accepts_our_skills() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("skills");
    let ours: Vec<PathBuf> = skill::builtin::all().iter().map(|builtin| folder.join(builtin.name)).collect();
    assert_eq!(judged(&ours), vec![0; ours.len()]);
}

#[test]
fn the_reference_validator_judges_others_as_we_do() {
    let mut differ = Vec::new();
    for folder in collections() {
        let names = skills_in(&folder);
        let theirs = judged(&names.iter().map(|name| folder.join(name)).collect::<Vec<_>>());
        for (name, theirs) in names.iter().zip(theirs) {
            let path = folder.join(name).join(MAIN);
            let ours = manifest::strict(&std::fs::read_to_string(&path).unwrap(), name);
            if ours.is_empty() != (theirs == 0) {
                differ.push(format!("{}: they find {theirs} faults, we {ours:?}", path.display()));
            }
        }
    }
    assert!(differ.is_empty(), "{} differences:\n{}", differ.len(), differ.join("\n"));
}

/// Files at the edges of the format, each of which stands in a folder `here`.
const EDGES: &[&str] = &[
    "---\nname: here\ndescription: b\n---\n",
    "---\nname: here\ndescription: b\n---",
    "---\r\nname: here\r\ndescription: b\r\n---\r\n",
    "--- \nname: here\ndescription: b\n--- \n",
    "\u{feff}---\nname: here\ndescription: b\n---\n",
    "\n---\nname: here\ndescription: b\n---\n",
    "---\nname: here\ndescription: b\n",
    "----\nname: here\ndescription: b\n---\n",
    "# Here\n\nText\n",
    "",
    "---\n---\nText\n",
    "---\n- a\n---\n",
    "---\nname: here\n---\nText\n",
    "---\ndescription: b\n---\n",
    "---\nname: Here\ndescription: b\n---\n",
    "---\nname: here-\ndescription: b\n---\n",
    "---\nname: he--re\ndescription: b\n---\n",
    "---\nname: there\ndescription: b\n---\n",
    "---\nname: ' here '\ndescription: b\n---\n",
    "---\nname: [here]\ndescription: b\n---\n",
    "---\nname: here\nname: here\ndescription: b\n---\n",
    "---\nname: here\ndescription: ''\n---\n",
    "---\nname: here\ndescription:\n---\n",
    "---\nname: here\ndescription: 7\n---\n",
    "---\nname: here\ndescription: yes\n---\n",
    "---\nname: here\ndescription: b: c\n---\n",
    "---\nname: here\ndescription: 'b: c'\n---\n",
    "---\nname: here\ndescription: b # c\n---\n",
    "---\nname: here\ndescription:\n  - b\n---\n",
    "---\nname: here\ndescription: >\n  b\n  c\n---\n",
    "---\nname: here\ndescription: b\n  c\n---\n",
    "---\nname: here\ndescription: !t b\n---\n",
    "---\nname: here\ndescription: &b c\n---\n",
    "---\nname: here\ndescription: *b\n---\n",
    "---\nname: here\ndescription: b\ncompatibility:\n  - c\n---\n",
    "---\nname: here\ndescription: b\nallowed-tools: c d\n---\n",
    "---\nname: here\ndescription: b\nallowed-tools:\n  - c\n---\n",
    "---\nname: here\ndescription: b\nallowed-tools: [c]\n---\n",
    "---\nname: here\ndescription: b\nallowed_tools: c\n---\n",
    "---\nname: here\ndescription: b\nmetadata:\n  c: d\n---\n",
    "---\nname: here\ndescription: b\nmetadata:\n  c:\n    d: e\n---\n",
    "---\nname: here\ndescription: b\nmetadata: {c: d}\n---\n",
    "---\nname: here\ndescription: b\nmetadata: c\n---\n",
    "---\nname: here\ndescription: b\nmetadata:\n---\n",
    "---\nname: here\ndescription: b\nlicense:\n---\n",
    "---\nname: here\ndescription: b\nlicense:\n  c: d\n---\n",
    "---\nname: here\ndescription: b\nversion: c\n---\n",
    "---\nname: here\n\tdescription: b\n---\n",
    "---\nname: here\ndescription: \"b\n---\n",
    "---\n'name': here\n\"description\": b\n---\n",
    "---\n# c\nname: here\n\n# d\ndescription: b\n---\n",
    "---\nname: here\ndescription: b\n...\n---\n",
    "---\nname: here\ndescription: b\n? c\n---\n",
    "---\nname: here\ndescription: \"b\\tc\"\n---\n",
    "---\n%YAML 1.2\nname: here\ndescription: b\n---\n",
    "---\nname: here\ndescription: @b\n---\n",
    "---\nname: here\ndescription: `b`\n---\n",
    "---\nname: here\ndescription: b\n  - c\n---\n",
    "---\nname: here\n description: b\n---\n",
    "---\n name: here\n description: b\n---\n",
    "---\nname: here\ndescription: |-\n\n  b\n---\n",
    "---\nname: here\ndescription: 'it''s'\n---\n",
    "---\nname: here\ndescription: {}\n---\n",
    "---\nname: here\ndescription: b\n<<: c\n---\n",
    "---\nname: here\ndescription: \u{e9}\u{1f600}\n---\n",
];

/// What we refuse and the reference validator takes, each with the folder that it stands in.
const STRICTER: &[(&str, &str)] = &[
    ("here", "---\nname: here\ndescription: b --- c\n---\n"),
    ("here", "---\nname: here\ndescription: ~\n---\n"),
    ("h\u{e9}re", "---\nname: h\u{e9}re\ndescription: b\n---\n"),
];

#[test]
fn the_reference_validator_judges_the_edges_as_we_do() {
    let longest = "d".repeat(1_024);
    let made = [
        format!("---\nname: here\ndescription: {longest}\n---\n"),
        format!("---\nname: here\ndescription: {longest}d\n---\n"),
        format!("---\nname: here\ndescription: '{longest} '\n---\n"),
        format!("---\nname: here\ndescription: b\ncompatibility: {}\n---\n", "c".repeat(501)),
        format!("---\nname: here\ndescription: {}\n---\n", "\u{e9}".repeat(1_024)),
    ];
    let edges: Vec<(&str, &str)> =
        EDGES.iter().copied().chain(made.iter().map(String::as_str)).map(|text| ("here", text)).collect();
    for ((_, text), (theirs, ours)) in edges.iter().zip(both_judge(&edges)) {
        assert_eq!(theirs == 0, ours.is_empty(), "they find {theirs} faults, we {ours:?} in {text:?}");
    }
    for ((_, text), (theirs, ours)) in STRICTER.iter().zip(both_judge(STRICTER)) {
        assert_eq!((theirs, ours.len()), (0, 1), "{text:?}");
    }
}

/// What the reference validator and we find in these texts, each in the folder that stands before
/// it.
fn both_judge(texts: &[(&str, &str)]) -> Vec<(usize, Vec<manifest::Problem>)> {
    let root = tempfile::tempdir().unwrap();
    let place = |(number, (folder, _)): (usize, &(&str, &str))| root.path().join(number.to_string()).join(folder);
    let folders: Vec<PathBuf> = texts.iter().enumerate().map(place).collect();
    for (folder, (_, text)) in folders.iter().zip(texts) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(MAIN), text).unwrap();
    }
    let ours = texts.iter().map(|(folder, text)| manifest::strict(text, folder));
    judged(&folders).into_iter().zip(ours).collect()
}
