//! Power cuts while a note is written: the note and its index line both exist or neither does, and
//! no file is half written.

use compline::store::CommitPoint::{After, Before};
use serde_json::{Value, json};

use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, canary};

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);
const BY_HAND: &str = "record a change by hand";
const IS_OVER: &str = "an open change of a file is over";

/// Memory written by Ada; its first change makes a version.
const MEMORY: &str = "# Memory\n\n## Index\n\n- [Bread](bread.md): rye\n";

/// Cuts the power at the first such commit of a memory call and restores it.
fn cut(tool: &str, arguments: Value, cut: Cut) -> CrashTest {
    let mut crash_test = dark(tool, arguments, cut);
    crash_test.revive();
    assert!(!crash_test.pass(5 * MINUTE));
    crash_test
}

/// Cuts the power at the first such commit of a memory call and leaves it off.
fn dark(tool: &str, arguments: Value, cut: Cut) -> CrashTest {
    let mut crash_test = CrashTest::prepared("");
    crash_test.story.model.calls(tool, arguments).says("Noted.");
    // Reply of the life that finds the first one unstored.
    crash_test.story.model.says("Noted.");
    assert!(!crash_test.start(Some(cut)));
    write(&crash_test, "memory/MEMORY.md", MEMORY);
    crash_test.story.fake.says(ADA, &format!("please {}", canary(ADA)));
    assert!(crash_test.pass(5 * MINUTE), "{cut:?} never came");
    crash_test
}

fn read(crash_test: &CrashTest, inside: &str) -> String {
    std::fs::read_to_string(crash_test.story.home.join("workspace").join(inside)).unwrap_or_default()
}

/// Writes a file by hand.
fn write(crash_test: &CrashTest, inside: &str, text: &str) {
    let path = crash_test.story.home.join("workspace").join(inside);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Checks that no change is open and no temporary file is left.
fn is_settled(crash_test: &CrashTest) -> bool {
    let memory = std::fs::read_dir(crash_test.story.home.join("workspace/memory")).unwrap();
    let tidy = memory.filter_map(Result::ok).all(|file| !file.file_name().to_string_lossy().starts_with('.'));
    tidy && crash_test.story.count("SELECT count(*) FROM files WHERE replaces IS NOT NULL") == 0
}

/// Checks that the tea note exists with exactly one line, and that the old line stays.
fn is_kept_whole(crash_test: &CrashTest) -> bool {
    let index = read(crash_test, "memory/MEMORY.md");
    let lines = (index.matches("](tea.md)").count(), index.matches("](bread.md)").count());
    (lines, read(crash_test, "memory/tea.md").matches("Green.").count()) == ((1, 1), 2)
}

fn tea() -> Value {
    json!({ "title": "Tea", "content": "Green.", "kind": "preference" })
}

const JOBS: [&str; 5] = [
    "begin a tool step",
    "announce a change of a file",
    "a changed file stands in its place",
    "store a tool step",
    "store a reply",
];

/// Proves: memory/notes
#[test]
fn a_note_is_there_with_exactly_one_line_whenever_the_power_goes() {
    let jobs = JOBS.into_iter().chain([BY_HAND]);
    for (side, job) in jobs.flat_map(|job| [(Before, job), (After, job)]) {
        let crash_test = cut("remember", tea(), Cut::at(side, job));
        assert!(is_kept_whole(&crash_test) && is_settled(&crash_test), "{side:?} {job}");
        crash_test.end();
    }
}

/// Recreates the disk between the two renames of an announced change: `first` is in its place, the
/// other file is only prepared.
fn stands_alone(crash_test: &CrashTest, first: &str) {
    let db = rusqlite::Connection::open(crash_test.story.home.join("compline.db")).unwrap();
    let mut open = db
        .prepare("SELECT f.path, c.content FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.replaces IS NOT NULL")
        .unwrap();
    let files = open.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let files: Vec<_> = files.map(Result::unwrap).collect();
    assert_eq!(files.len(), 2, "a note and its line are announced together");
    for (path, content) in files {
        let inside = if path == first { path } else { path.replace("memory/", "memory/.") + ".new" };
        write(crash_test, &inside, std::str::from_utf8(&content).unwrap());
    }
}

/// Proves: memory/notes
#[test]
fn both_note_files_exist_after_a_power_cut_and_another_during_recovery() {
    for first in ["memory/tea.md", "memory/MEMORY.md"] {
        for (side, nth) in [(Before, 1), (After, 1), (Before, 2), (After, 2)] {
            let mut crash_test = dark("remember", tea(), Cut::at(After, "announce a change of a file"));
            crash_test.bury();
            stands_alone(&crash_test, first);
            assert!(!is_kept_whole(&crash_test), "{first}: nothing is left to do");
            assert!(
                crash_test.start(Some(Cut { nth, ..Cut::at(side, IS_OVER) })),
                "{side:?} {nth} {IS_OVER} never came"
            );
            crash_test.bury();
            assert!(
                nth == 1 || is_kept_whole(&crash_test),
                "{first} {side:?} {nth}: it is mended before anybody is let in"
            );
            assert!(!crash_test.start(None));
            assert!(!crash_test.pass(5 * MINUTE));
            assert!(is_kept_whole(&crash_test) && is_settled(&crash_test), "{first} {side:?} {nth}");
            crash_test.end();
        }
    }
}

/// Proves: memory/notes
#[test]
fn a_persons_edit_during_a_power_cut_stays() {
    let mut crash_test = dark("remember", tea(), Cut::at(After, "announce a change of a file"));
    crash_test.bury();
    stands_alone(&crash_test, "memory/tea.md");
    write(&crash_test, "memory/MEMORY.md", &format!("{MEMORY}- [Salt](salt.md): of the sea\n"));
    assert!(!crash_test.start(None));
    assert!(!crash_test.pass(5 * MINUTE));
    assert!(read(&crash_test, "memory/MEMORY.md").contains("of the sea"), "{}", read(&crash_test, "memory/MEMORY.md"));
    assert!(is_kept_whole(&crash_test) && is_settled(&crash_test), "{}", read(&crash_test, "memory/MEMORY.md"));
    crash_test.end();
}

/// Proves: memory/daily-note
#[test]
fn a_line_of_the_day_is_there_once_whenever_the_power_goes() {
    for (side, job) in JOBS.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let crash_test = cut("memory_save", json!({ "content": "Tea at five" }), Cut::at(side, job));
        let memory = std::fs::read_dir(crash_test.story.home.join("workspace/memory")).unwrap();
        let texts = memory.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
        assert_eq!(texts.map(|text| text.matches("] Tea at five").count()).sum::<usize>(), 1, "{side:?} {job}");
        assert!(is_settled(&crash_test), "{side:?} {job}");
        crash_test.end();
    }
}
