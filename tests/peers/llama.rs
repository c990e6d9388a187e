//! The program against a real llama.cpp, whose model is made of random numbers: it babbles, in
//! bytes that are mostly no UTF-8, and sometimes says nothing at all. Nothing can be asserted of
//! what it says; what it says is answered, stored, counted and delivered like anything else.

use compline::wording::{Language, turn};

use super::installed;
use super::program::{LIMIT, Program, Server};
use crate::support::telegram::FakeTelegram;

const ADA: i64 = 1001;

/// Ada, a model that babbles, and the program between them.
struct Scene {
    fake: FakeTelegram,
    program: Program,
    _llama: Server,
}

impl Scene {
    fn begin(manner: &str, max_output: u32) -> Self {
        let llama = Server::start(installed("venv/bin/python"), &[&installed("llama.py"), manner.as_ref()]);
        let fake = FakeTelegram::start_sync();
        fake.person(ADA, "Ada", None);
        let program = Program::start(&format!(
            "timezone = \"UTC\"\n[model]\nprovider = \"openai\"\nbase_url = \"{}/v1\"\nname = \"babble\"\n\
             context_window = 32000\nmax_output = {max_output}\n[telegram]\ntoken = \"{}\"\napi_url = \"{}\"\n\
             [[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
            llama.url,
            fake.token(),
            fake.url()
        ));
        Self { fake, program, _llama: llama }
    }

    /// Ada says something, and the answer to it has arrived.
    fn talk(&mut self, words: &str, replies: i64) {
        self.fake.says(ADA, words);
        self.program.until("SELECT count(*) FROM outbox WHERE state = 'sent' AND kind = 'reply'", replies);
    }
}

/// Model calls whose tokens the server counted.
const COUNTED: &str = "SELECT count(*) FROM spending WHERE purpose = 'chat' AND state = 'spent'
    AND input_tokens > 0 AND output_tokens > 0";

/// Promise (models/weak-model): The rambling output of a weak model is stored, counted and
/// delivered like any other answer.
#[test]
fn babble_is_answered_stored_counted_and_delivered() {
    let mut scene = Scene::begin("", 300);
    for (at, words) in ["Good evening", "Grüß Gott \u{1f600}", "and once more"].into_iter().enumerate() {
        scene.talk(words, i64::try_from(at).unwrap() + 1);
    }
    assert_eq!(scene.program.count("SELECT count(*) FROM turns WHERE state = 'done'"), 3);
    assert_eq!(scene.program.count(COUNTED), 3);
    assert!(scene.fake.texts(ADA).len() >= 3 && scene.fake.texts(ADA).iter().all(|text| !text.is_empty()));
    assert!(scene.program.is_alive());
}

#[test]
fn an_answer_that_reaches_the_limit_says_so() {
    let mut scene = Scene::begin("endless", 20);
    scene.talk("Good evening", 1);
    let cut = turn::CUT_BY_LIMIT.in_language(Language::ENGLISH);
    let cut = cut.trim_matches('_');
    assert!(scene.fake.texts(ADA).concat().contains(cut), "{:?}", scene.fake.texts(ADA));
    assert_eq!(scene.program.count("SELECT output_tokens FROM spending WHERE purpose = 'chat'"), 20);
}

/// Proves: models/weak-model
#[test]
fn an_answer_that_never_ends_is_stopped() {
    let mut scene = Scene::begin("endless", 20_000);
    scene.fake.says(ADA, "Good evening");
    assert!(scene.fake.wait_for(LIMIT, |fake| !fake.sent(ADA).is_empty()), "the answer is seen growing");
    scene.fake.says(ADA, "/stop");
    scene.program.until("SELECT count(*) FROM turns WHERE state = 'stopped'", 1);
    scene.program.until("SELECT count(*) FROM outbox WHERE state = 'pending'", 0);
    assert_eq!(scene.program.count("SELECT count(*) FROM turns WHERE state = 'running'"), 0);
    assert!(scene.program.is_alive());
}
