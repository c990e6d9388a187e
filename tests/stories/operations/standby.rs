//! A second machine goes on with a copy of the first one's journal, which ends a moment before the
//! first machine did.

use compline::admin::standby::{self, Purpose};
use compline::app::{App, BuildError, Overrides};
use compline::store::CommitPoint::{After, Before};
use compline::time::Clock;
use std::time::Duration;

use crate::support::every_channel::{CrashTest, TestChannel, on_every_channel};
use crate::support::model::Say;
use crate::support::power::Cut;
use crate::support::story::ADA;

on_every_channel! {
    crash_tests:
        a_second_machine_answers_what_waited_and_says_that_it_may_repeat,
        what_the_first_machine_answered_is_not_answered_again;
}

const MARK: &str = "(possibly repeated)";

/// Takes the home over as another machine, which has everything but the number of the home.
fn takes_over(crash_test: &mut CrashTest) -> standby::PreparedTakeover {
    crash_test.bury();
    std::fs::remove_file(crash_test.story.home.join("home.id")).unwrap();
    let now = crash_test.story.clock.now().plus(Duration::from_secs(60));
    crash_test.story.clock.set(now);
    let config = crash_test.story.config();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let refused = App::build(config.clone(), Overrides::default()).await;
        assert!(matches!(refused, Err(BuildError::Foreign(_))), "a copy of another home is not served as it is");
        standby::prepare(&config, Purpose::Activate, now).await.unwrap()
    })
}

fn goes_on(crash_test: &mut CrashTest, prepared: standby::PreparedTakeover) {
    standby::finish(prepared, &crash_test.story.config(), crash_test.story.clock.now()).unwrap();
    compline::admin::restore::settle(&crash_test.story.config().home).unwrap();
    assert!(!crash_test.start(None));
    assert!(!crash_test.pass(Duration::from_secs(5)));
}

/// Promise (operation/standby): A second machine that takes over answers and sends what waited in
/// the replica, and each answer to what was written before says that it may be a repeat.
fn a_second_machine_answers_what_waited_and_says_that_it_may_repeat(channel: TestChannel) {
    for (side, job) in [
        (After, "accept messages"),
        (After, "reserve a call"),
        (Before, "store a reply"),
        (After, "store a reply"),
        (After, "begin to send"),
    ] {
        let mut crash_test = channel.crash_test("");
        crash_test.story.model.otherwise(|_| Say::Text("Good evening, Ada.".to_owned()));
        let nth = if job == "accept messages" { 1 + channel.batches_before() } else { 1 };
        assert!(!crash_test.start(Some(Cut { nth, ..Cut::at(side, job) })));
        crash_test.story.fake.says(ADA, "Good evening");
        assert!(crash_test.pass(Duration::from_secs(5)), "{job}: the power did not go");
        let before = crash_test.story.received_by(ADA).len();
        let prepared = takes_over(&mut crash_test);
        assert!(prepared.parked.repeated > 0, "{job}: {:?}", prepared.parked);
        goes_on(&mut crash_test, prepared);
        let received = crash_test.story.received_by(ADA).split_off(before);
        assert_eq!(received.len(), 1, "{side:?} {job}: {received:?}");
        assert!(received[0].contains(MARK) && received[0].contains("Good evening, Ada."), "{job}: {received:?}");
        crash_test.story.fake.says(ADA, "And now?");
        assert!(!crash_test.pass(Duration::from_secs(5)));
        let last = crash_test.story.last_received_by(ADA);
        assert!(!last.contains(MARK), "what is written afterwards is answered as always: {last}");
        crash_test.end();
    }
}

/// Proves: operation/standby
fn what_the_first_machine_answered_is_not_answered_again(channel: TestChannel) {
    let mut crash_test = channel.crash_test("");
    crash_test.story.model.otherwise(|_| Say::Text("Good evening, Ada.".to_owned()));
    assert!(!crash_test.start(None));
    crash_test.story.fake.says(ADA, "Good evening");
    assert!(!crash_test.pass(Duration::from_secs(5)));
    let before = crash_test.story.received_by(ADA);
    crash_test.cut_next(Cut::at(Before, "accept messages"));
    crash_test.story.fake.says(ADA, "Never stored");
    assert!(crash_test.pass(Duration::from_secs(5)), "the power did not go");
    let prepared = takes_over(&mut crash_test);
    assert_eq!(prepared.parked.repeated, 0);
    goes_on(&mut crash_test, prepared);
    let received = crash_test.story.received_by(ADA);
    assert_eq!(received[..before.len()], before);
    // A channel that hands over again what was not stored does so, and the first machine may have
    // answered it.
    let new = &received[before.len()..];
    assert!(new.len() <= 1 && new.iter().all(|text| text.contains(MARK)), "{received:?}");
    let answered = "SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'";
    assert_eq!(usize::try_from(crash_test.story.count(answered)).unwrap(), 1 + new.len());
    crash_test.end();
}
