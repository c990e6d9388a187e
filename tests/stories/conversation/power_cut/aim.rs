//! Targets of the stories: the jobs of the journal, and the acts that cause each of them.

use std::time::Duration;

use compline::store::CommitPoint;

use super::plot::{Act, Mood, OUTAGES, SECOND};
use crate::support::every_channel::TestChannel;
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN};

/// Longer than a message stays worth an answer.
const LONG: Duration = Duration::from_secs(25 * 3600);

/// Jobs that other tests cut on both sides: the daily upkeep, too rare in these short stories, in
/// `upkeep.rs`; the repair of an interrupted file change in `memory_power.rs`; deliveries set aside
/// in `set_aside.rs`; what is moved or dropped in `unasked.rs`; replaced buttons in `buttons.rs`;
/// a context that is whole again in `compaction.rs`.
pub const ELSEWHERE: [&str; 16] = [
    "an open change of a file is over",
    "drop a delivery",
    "move to another channel",
    "set a delivery aside",
    "send again",
    "show the whole context",
    "sweep knowledge",
    "claim upkeep",
    "end upkeep",
    "look at estimates",
    "merge the index",
    "purge originals",
    "replace buttons",
    "sweep rows",
    "the index goes with the texts",
    "the journal is checked",
];

/// Every job that these stories commit. A run finds missing ones, and they have to be cut too.
const JOBS: [&str; 56] = [
    "accept messages",
    "claim messages",
    "take messages in",
    "begin a model step",
    "reserve a call",
    "settle a call",
    "store a reply",
    "keep parts",
    "begin to send",
    "mark as sent",
    "store a model step",
    "begin a tool step",
    "store a tool step",
    "want a summary",
    "keep a summary",
    "fix an opening",
    "begin a command",
    "answer a command",
    "stop a turn",
    "postpone a turn",
    "postpone a summary",
    "give a turn up",
    "take a turn up again",
    "begin a preview",
    "keep a preview",
    "drop a preview",
    "wait to send",
    "send later",
    "give a delivery up",
    "close outdated messages",
    "refuse a file",
    "keep a file",
    "declare people",
    "declare addresses",
    "tell of an absence",
    "announce a file",
    "ask the person",
    "let questions expire",
    "store facts",
    "facts are stored",
    "end taking down",
    "postpone taking down",
    "announce a change of a file",
    "a changed file stands in its place",
    "want to keep something",
    "index files",
    "index what the journal tells",
    "act on a nearly full prompt",
    "want facts",
    "keep a summary of an older part",
    "postpone a summary of an older part",
    "make the index whole",
    "the index is whole",
    "settle whose the root is",
    "settle a folder",
    "name the home",
];

/// Jobs that every story commits several times in each life.
pub const OFTEN: [&str; 14] = [
    "accept messages",
    "claim messages",
    "begin a model step",
    "reserve a call",
    "settle a call",
    "store a reply",
    "keep parts",
    "begin to send",
    "mark as sent",
    "want a summary",
    "keep a summary",
    "fix an opening",
    "index files",
    "announce a change of a file",
];

/// Jobs of this channel.
pub fn jobs(channel: TestChannel) -> Vec<&'static str> {
    JOBS.into_iter().filter(|job| !channel.never_commits().contains(job)).collect()
}

/// First part of a story: one kind of commit is cut on both sides.
#[derive(Debug)]
pub struct Aim {
    pub job: &'static str,
    /// Acts that cause the commit, as often as they are repeated.
    pub acts: Vec<(Act, Duration)>,
    /// Both cuts, after the preparing cut if the commit needs one.
    pub cuts: Vec<(Cut, Duration)>,
    /// Behaviour of the model, without any chance.
    pub mood: Mood,
    /// Set if the window has to be full.
    pub full: bool,
}

/// Cuts on both sides of a job, with everything that the commit needs.
pub fn at(channel: TestChannel, job: &'static str, sides: [CommitPoint; 2], outages: [Duration; 2]) -> Aim {
    let (mood, acts) = what_leads_to(job);
    // State found after an outage is found again after the next one, as long as it was not
    // processed.
    let prepared = match job {
        "take a turn up again" => Some((first(channel, CommitPoint::After, "claim messages"), OUTAGES[2])),
        "close outdated messages" => Some((first(channel, CommitPoint::After, "accept messages"), LONG)),
        _ => None,
    };
    // Committed once in the life of a home.
    let is_single = matches!(job, "settle whose the root is" | "settle a folder" | "name the home");
    let sides = if prepared.is_some() || is_single { [CommitPoint::Before, CommitPoint::After] } else { sides };
    let cuts = sides.into_iter().zip(outages).map(|(side, dark)| (first(channel, side, job), dark));
    let cuts = prepared.into_iter().chain(cuts).collect();
    let full = matches!(
        job,
        "act on a nearly full prompt"
            | "want facts"
            | "keep a summary of an older part"
            | "postpone a summary of an older part"
    );
    Aim { job, acts, cuts, mood, full }
}

/// Behaviour of the model and acts of people that cause a commit.
fn what_leads_to(job: &'static str) -> (Mood, Vec<(Act, Duration)>) {
    let soon = Duration::from_millis(700);
    let says = (Act::Says(ADA), Duration::from_secs(4));
    let new = (Act::Commands(ADA, "/new"), SECOND);
    match job {
        "store a model step" | "begin a tool step" | "store a tool step" => (Mood::Busy, vec![says, says]),
        "begin a preview" | "keep a preview" => (Mood::Slow, vec![says]),
        "drop a preview" => (Mood::Slow, vec![(Act::Says(ADA), soon), (Act::Flood(ADA), Duration::from_secs(30))]),
        "stop a turn" => (Mood::Slow, vec![(Act::Says(ADA), soon), (Act::Commands(ADA, "/stop"), SECOND)]),
        "give a turn up" => (Mood::Refusing, vec![says]),
        "postpone a turn" | "postpone a summary" | "postpone taking down" => {
            (Mood::Moody, vec![says, says, says, says, new, says, new, says])
        }
        // Longer than the server asks the program to wait.
        "wait to send" => (Mood::Mixed, vec![(Act::Flood(ADA), SECOND), (Act::Says(ADA), Duration::from_secs(30))]),
        "take messages in" => {
            (Mood::Slow, vec![(Act::Says(ADA), Duration::from_millis(300)), (Act::Says(ADA), Duration::from_secs(20))])
        }
        "send later" => (Mood::Mixed, vec![(Act::ServerError, SECOND), says]),
        "give a delivery up" => {
            (Mood::Mixed, vec![(Act::Block(ADA), SECOND), says, says, says, (Act::Unblock(ADA), SECOND)])
        }
        "refuse a file" => (Mood::Mixed, vec![(Act::SendsPhotoThatIsGone(ADA), SECOND)]),
        "keep a file" | "announce a file" => (Mood::Mixed, vec![(Act::SendsText(ADA), Duration::from_secs(4))]),
        "ask the person" | "let questions expire" => {
            let waits = Duration::from_secs(660);
            (Mood::Curious, vec![(Act::Forwards(ADA), waits), (Act::Says(ADA), waits), (Act::Says(ADA), waits)])
        }
        "act on a nearly full prompt" | "want facts" | "keep a summary of an older part" => {
            (Mood::Mixed, vec![says; 7])
        }
        "postpone a summary of an older part" => (Mood::Moody, vec![says; 10]),
        "announce a change of a file" | "a changed file stands in its place" => (Mood::Keeping, vec![says, says]),
        "want to keep something" => {
            (Mood::Keeping, vec![(Act::Forwards(ADA), Duration::from_secs(4)), says, says, says])
        }
        "index what the journal tells" => (Mood::Mixed, vec![says, new, says, new, says]),
        "settle a folder" => (Mood::Mixed, vec![(Act::Says(BEN), Duration::from_secs(4)), says]),
        "begin a command" | "answer a command" => (Mood::Mixed, vec![(Act::Commands(ADA, "/status"), SECOND)]),
        "store facts" | "facts are stored" => (Mood::Mixed, vec![says, says, says, says, says, says, new, says, says]),
        "want a summary" | "keep a summary" | "fix an opening" => (Mood::Mixed, vec![says, new, says]),
        // A conversation of one message holds too little.
        "end taking down" => (Mood::Mixed, vec![new, says, new, says]),
        _ => (Mood::Mixed, vec![says]),
    }
}

/// Cut at the first commit of a job that is not empty.
fn first(channel: TestChannel, side: CommitPoint, job: &'static str) -> Cut {
    let nth = if job == "accept messages" { 1 + channel.batches_before() } else { 1 };
    Cut { nth, ..Cut::at(side, job) }
}
