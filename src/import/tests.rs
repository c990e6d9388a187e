//! Archives as published descriptions have them, and hostile ones.

use std::io::Write;
use std::path::PathBuf;

use proptest::prelude::*;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

mod folders;

/// A folder for one archive.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn zip(&self, files: &[(&str, &[u8])]) -> PathBuf {
        let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in files {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        self.file("export.zip", &zip.finish().unwrap().into_inner())
    }
}

fn corpus(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/corpus/import/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

type Found = (ArchiveKind, Vec<ArchivedConversation>, Vec<&'static str>);

fn found(path: &Path) -> Result<Found, ImportError> {
    let (mut conversations, mut skipped) = (Vec::new(), Vec::new());
    let kind = read(path, &mut |item| {
        match item {
            ArchiveItem::Conversation(one) => conversations.push(one),
            ArchiveItem::Skipped(why) | ArchiveItem::SkippedFile(why, _) => skipped.push(why.into()),
            ArchiveItem::Note(_) | ArchiveItem::Skill(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok((kind, conversations, skipped))
}

fn refused(bytes: &[u8]) -> String {
    found(&Folder::new().file("conversations.json", bytes)).unwrap_err().to_string()
}

fn texts(conversation: &ArchivedConversation) -> Vec<&str> {
    conversation.messages.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn chatgpt_as_its_window_showed_it() {
    let (kind, conversations, skipped) = found(&Folder::new().file("x.json", &corpus("chatgpt"))).unwrap();
    assert_eq!((kind, conversations.len()), (ArchiveKind::ChatGpt, 2));
    assert_eq!(conversations[0].title, "Raised beds");
    assert_eq!(
        texts(&conversations[0]),
        [
            "User: Which wood lasts longest in a raised bed?",
            "ChatGPT: Larch lasts about fifteen years.",
            "User: Like this one?"
        ]
    );
    assert_eq!(conversations[0].messages[0].at, Some(Timestamp(1_717_230_001_250)));
    assert_eq!(
        (&*conversations[1].title, texts(&conversations[1])),
        (says::UNTITLED, vec!["User: Remind me of the compost."])
    );
    assert_eq!(skipped, ["file", "other_version", "unknown"]);
}

#[test]
fn claude_without_its_thoughts() {
    let (kind, conversations, skipped) = found(&Folder::new().file("x.json", &corpus("claude"))).unwrap();
    assert_eq!((kind, conversations.len()), (ArchiveKind::Claude, 1));
    assert_eq!(texts(&conversations[0]), ["User: How wet is a good dough?", "Claude: Seventy-five percent."]);
    assert_eq!(conversations[0].messages[1].at, Timestamp::of_rfc3339("2025-03-02T16:00:00Z"));
    assert_eq!(skipped, ["file"]);
}

#[test]
fn telegram_divided_by_silences() {
    let (kind, conversations, skipped) = found(&Folder::new().file("result.json", &corpus("telegram"))).unwrap();
    assert_eq!((kind, conversations.len()), (ArchiveKind::Telegram, 2));
    assert_eq!(texts(&conversations[0]), ["Nora: The key is under the blue pot.", "Ada: Thank you!"]);
    assert_eq!(texts(&conversations[1]), ["Nora (forwarded from City works): The water is off on Tuesday."]);
    assert_eq!(skipped, ["not_said", "file"]);
    let all = format!(
        r#"{{"about": "", "contacts": {{"list": []}}, "chats": {{"list": [{0}, {0}]}}}}"#,
        String::from_utf8(corpus("telegram")).unwrap()
    );
    let (kind, conversations, _) = found(&Folder::new().file("result.json", all.as_bytes())).unwrap();
    assert_eq!((kind, conversations.len()), (ArchiveKind::Telegram, 4));
}

#[test]
fn the_same_message_has_the_same_key_in_every_archive() {
    let folder = Folder::new();
    let alone = found(&folder.file("conversations.json", &corpus("chatgpt"))).unwrap();
    let zipped = found(&folder.zip(&[
        ("export/chat.html", b"<html>".as_slice()),
        ("export/conversations-001.json", corpus("chatgpt").as_slice()),
        ("export/conversations.json.bak", b"{".as_slice()),
    ]));
    assert_eq!(zipped.unwrap().1, alone.1);
    assert_eq!(found(folder.0.path()).unwrap().1, alone.1, "a folder");
    let keys: std::collections::BTreeSet<&str> =
        alone.1.iter().flat_map(|one| &one.messages).map(|message| message.key.as_str()).collect();
    assert_eq!(keys.len(), 4);
}

#[test]
fn a_long_conversation_is_divided() {
    let message = |n: usize| {
        format!(
            r#"{{"id": {n}, "type": "message", "date_unixtime": "{}", "from": "A", "text": "t{n}"}}"#,
            1_700_000_000 + n
        )
    };
    let all: Vec<String> = (0..1_200).map(message).collect();
    let json = format!(r#"{{"messages": [{}], "name": "N", "id": 1}}"#, all.join(","));
    let (_, conversations, _) = found(&Folder::new().file("result.json", json.as_bytes())).unwrap();
    assert_eq!(conversations.iter().map(|one| one.messages.len()).collect::<Vec<_>>(), [500, 500, 200]);
}

#[test]
fn a_damaged_archive_is_refused_with_the_reason() {
    let whole = corpus("chatgpt");
    assert_eq!(refused(&whole[..whole.len() - 40]), says::CUT_OFF);
    assert_eq!(refused(b""), says::CUT_OFF);
    assert_eq!(refused(b"[1, 2"), says::CUT_OFF);
    assert!(refused(b"[{\"mapping\": {}, \"x\": \"\xff\xfe\"}]").contains("not valid JSON in UTF-8 at line 1"));
    assert!(refused("\u{feff}[] trailing".as_bytes()).contains("column"));
    for odd in [&b"7"[..], b"\"text\"", b"[]", b"{}", b"[7]", b"null", b"{\"messages\": 7}"] {
        assert_eq!(refused(odd), says::NOT_RECOGNISED, "{odd:?}");
    }
    let folder = Folder::new();
    let zip = std::fs::read(folder.zip(&[("conversations.json", whole.as_slice())])).unwrap();
    for cut in [4, 30, zip.len() / 2, zip.len() - 3] {
        let error = found(&folder.file("cut.zip", &zip[..cut])).unwrap_err().to_string();
        assert_eq!(error, says::DAMAGED, "{cut} of {}", zip.len());
    }
    let mut flipped = zip;
    let middle = 60 + flipped.len() / 3;
    flipped[middle] ^= 0x55;
    assert!(found(&folder.file("flipped.zip", &flipped)).is_err());
    assert_eq!(found(&folder.zip(&[("notes.txt", b"x".as_slice())])).unwrap_err().to_string(), says::NOT_RECOGNISED);
    assert!(matches!(found(Path::new("/nowhere/at/all")).unwrap_err(), ImportError::Unreadable(_)));
    assert!(matches!(found(Path::new("/dev/zero")).unwrap_err(), ImportError::NotRecognised));
}

/// Promise (privacy/import-limits): An archive that would fill the memory or the disk when it is
/// unpacked, or that names files outside of itself, is refused or harms nothing.
#[test]
fn a_hostile_archive_is_bounded() {
    let folder = Folder::new();
    let bomb = vec![b' '; 24 << 20];
    let zip = folder.zip(&[("conversations.json", bomb.as_slice())]);
    assert!(std::fs::metadata(&zip).unwrap().len() < 1 << 20);
    assert_eq!(found(&zip).unwrap_err().to_string(), says::BOMB);
    let large = [b"[{\"mapping\": {}, \"x\": \"".as_slice(), &vec![b'x'; 65 << 20], b"\"}]"].concat();
    assert_eq!(refused(&large), says::TOO_LARGE);
    let deep = [b"[{\"mapping\": ".as_slice(), &b"[".repeat(1 << 20), &b"]".repeat(1 << 20), b"}]"].concat();
    let (kind, conversations, skipped) = found(&folder.file("conversations.json", &deep)).unwrap();
    assert_eq!((kind, conversations.len(), skipped), (ArchiveKind::ChatGpt, 0, vec!["unknown"]));
    let zip = folder.zip(&[
        ("../../escaped/conversations.json", corpus("claude").as_slice()),
        ("/etc/result.json", corpus("telegram").as_slice()),
    ]);
    assert_eq!(found(&zip).unwrap().1.len(), 3, "read, and written nowhere");
    let round = br#"[{"current_node": "a", "mapping": {
        "a": {"parent": "b", "message": {"id": "1", "author": {"role": "user"}, "content": {"parts": ["x"]}}},
        "b": {"parent": "a", "message": {"id": "2", "author": {"role": "user"}, "content": {"parts": ["y\u0000z"]}}}}}]"#;
    let (_, conversations, _) = found(&folder.file("conversations.json", round)).unwrap();
    assert_eq!(texts(&conversations[0]), ["User: yz", "User: x"]);
    let long = format!(
        r#"{{"messages": [{{"id": 1, "type": "message", "from": "{0}", "text": "{0}"}}]}}"#,
        "ä".repeat(200 << 10)
    );
    let (_, conversations, skipped) = found(&folder.file("result.json", long.as_bytes())).unwrap();
    assert!(conversations[0].messages[0].text.len() <= MAX_TEXT + 4 * MAX_NAME);
    assert_eq!((skipped, conversations[0].messages[0].at), (vec!["cut"], None));
}

proptest! {
    /// Proves: privacy/import-limits
    #[test]
    fn no_bytes_stop_the_program(bytes in prop::collection::vec(any::<u8>(), 0..400), is_zip in any::<bool>()) {
        let folder = Folder::new();
        let bytes = if is_zip { [b"PK\x03\x04".as_slice(), &bytes].concat() } else { bytes };
        let _ = found(&folder.file("result.json", &bytes));
    }

    /// Proves: privacy/import-limits
    #[test]
    fn no_change_of_an_archive_stops_the_program(which in 0..3_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = corpus(["chatgpt", "claude", "telegram"][which]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = found(&Folder::new().file("result.json", &bytes));
    }
}

#[test]
fn fuzzed() {
    let seeds: Vec<Vec<u8>> = ["chatgpt", "claude", "telegram"].map(corpus).into();
    let zip =
        std::fs::read(Folder::new().zip(&[("a/memory/MEMORY.md", b"# A\n"), ("conversations.json", b"[]")])).unwrap();
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).chain([zip.as_slice()]).collect();
    let folder = Folder::new();
    crate::fuzz::target("archives", &seeds, |bytes| {
        let is_zip = bytes.starts_with(b"PK");
        found(&folder.file(if is_zip { "export.zip" } else { "conversations.json" }, bytes))
            .map_err(|error| error.to_string())
    });
}
