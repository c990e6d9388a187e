//! Folders of other assistants as their projects describe them, and hostile ones.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::*;

/// A folder with files.
struct Tree(tempfile::TempDir);

impl Tree {
    fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| tree.put(path, text.as_bytes()));
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Findings in a folder: lines of notes, skills with their files, and skipped files.
#[derive(Debug, Default)]
struct FoundFolder {
    notes: Vec<(String, String)>,
    skills: Vec<String>,
    skipped: Vec<String>,
    talks: Vec<ArchivedConversation>,
}

fn folder(path: &Path) -> Result<(ArchiveKind, FoundFolder), ImportError> {
    let mut found = FoundFolder::default();
    let kind = read(path, &mut |item| {
        match item {
            ArchiveItem::Note(note) => found.notes.push((note.path, note.text)),
            ArchiveItem::Skill(skill) => {
                let files: Vec<&str> = skill.content.files().map(|(path, _)| path).collect();
                found.skills.push(format!("{}: {}", skill.name, files.join(" ")));
            }
            ArchiveItem::Conversation(one) => found.talks.push(one),
            ArchiveItem::Skipped(why) => found.skipped.push(<&str>::from(why).to_owned()),
            ArchiveItem::SkippedFile(why, name) => found.skipped.push(format!("{name}: {}", <&str>::from(why))),
        }
        ControlFlow::Continue(())
    })?;
    Ok((kind, found))
}

fn names(found: &FoundFolder) -> Vec<&str> {
    found.notes.iter().map(|(path, _)| path.as_str()).collect()
}

const SKILL: &str = "---\nname: tea\ndescription: Makes tea.\n---\n\nBoil water.\n";

#[test]
fn openclaw_keeps_notes_days_and_skills() {
    let tree = Tree::of(&[
        ("AGENTS.md", "Be brief."),
        ("USER.md", "\u{feff}Ada likes tea.\n"),
        ("TOOLS.md", "  \n"),
        ("memory/2026-02-23.md", "Tea at four."),
        ("memory/projects/shed.md", "Larch."),
        ("memory/state.json", "{}"),
        ("skills/tea/SKILL.md", SKILL),
        ("skills/tea/resources/pot.md", "Blue."),
        ("skills/Bad Name/SKILL.md", SKILL),
        ("skills/empty/notes.md", "x"),
        ("skills/README.md", "x"),
        ("canvas/index.html", "<html>"),
        (".git/config", "x"),
    ]);
    let (kind, found) = folder(tree.0.path()).unwrap();
    assert_eq!(kind, ArchiveKind::OpenClaw);
    assert_eq!(names(&found), ["AGENTS", "USER", "memory/2026-02-23", "memory/projects/shed"]);
    assert_eq!(found.notes[1].1, "Ada likes tea.");
    assert_eq!(found.skills, ["tea: SKILL.md resources/pot.md"]);
    let skipped = [
        ".git: hidden",
        "TOOLS.md: empty",
        "canvas: other_folder",
        "memory/state.json: other_file",
        "skills/Bad Name: no_skill",
        "skills/README.md: other_file",
        "skills/empty: no_skill",
    ];
    assert_eq!(found.skipped, skipped);
}

#[test]
fn carpenter_keeps_a_knowledge_base_without_its_manual() {
    let kb = [
        ("config/kb/_root.md", "# Carpenter Knowledge Base"),
        ("config/kb/security/config.md", "# Security"),
        ("config/kb/conversations/_index.md", "# Conversations"),
        ("config/kb/conversations/7-raised-beds.md", "# Raised beds\nLarch lasts."),
        ("config/kb/garden.md", "# Garden"),
        ("config/kb/skills/_index.md", "# Skills"),
        ("config/kb/skills/dark-factory/_index.md", "# Dark Factory\nShipped."),
        ("config/kb/skills/pruning.md", "# Pruning\nCuts trees in winter.\n\nCut above a bud."),
        ("config/kb/skills/compost/_index.md", "# Compost\nTurns waste into soil."),
        ("config/kb/skills/compost/layers.md", "# Layers"),
        ("config/kb/skills/silent.md", "\n"),
        ("config/credentials.env", "KEY=1"),
    ];
    let tree = Tree::of(&kb);
    for path in [tree.0.path().to_owned(), tree.at("config/kb")] {
        let (kind, found) = folder(&path).unwrap();
        assert_eq!(kind, ArchiveKind::Carpenter);
        assert_eq!(names(&found), ["conversations/7-raised-beds", "garden"]);
        assert_eq!(found.skills, ["compost: SKILL.md resources/layers.md", "pruning: SKILL.md"]);
        let skipped = [
            "_root.md: manual",
            "conversations/_index.md: manual",
            "security: manual",
            "skills/_index.md: manual",
            "skills/dark-factory: manual",
            "skills/silent.md: empty",
        ];
        assert_eq!(found.skipped, skipped);
    }
}

/// Promise (privacy/import-folder): From a folder that you import nothing is read outside of it,
/// whatever links lie in it, and no file that is no text or over its limit. What is left out is
/// named with the reason.
#[test]
fn a_hostile_folder_leads_nowhere() {
    let outside = Tree::of(&[("secret.md", "the secret"), ("memory/secret.md", "the secret")]);
    let tree = Tree::of(&[("MEMORY.md", "Mine."), ("skills/tea/SKILL.md", SKILL), ("skills/ok/SKILL.md", SKILL)]);
    symlink(outside.at("secret.md"), tree.at("USER.md")).unwrap();
    symlink(outside.at("memory"), tree.at("memory")).unwrap();
    symlink(outside.at("secret.md"), tree.at("skills/tea/more.md")).unwrap();
    symlink(outside.0.path(), tree.at("skills/link")).unwrap();
    symlink("/dev/zero", tree.at("ZERO.md")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tree.at("SOCKET.md")).unwrap();
    tree.put("BINARY.md", b"a\0b");
    tree.put("LATIN.md", b"caf\xe9");
    tree.put("LARGE.md", &vec![b'x'; (1 << 20) + 1]);
    std::fs::write(tree.0.path().join(std::ffi::OsStr::from_bytes(b"odd\xff.md")), "x").unwrap();
    let (_, found) = folder(tree.0.path()).unwrap();
    assert_eq!(found.notes, [("MEMORY".to_owned(), "Mine.".to_owned())]);
    assert_eq!(found.skills, ["ok: SKILL.md"]);
    let mut skipped = found.skipped;
    skipped.sort();
    let expected = [
        "BINARY.md: not_text",
        "LARGE.md: too_large",
        "LATIN.md: not_text",
        "SOCKET.md: other_file",
        "USER.md: link",
        "ZERO.md: link",
        "link: link",
        "memory: link",
        "odd\u{fffd}.md: odd_name",
        "skills/tea: link",
    ];
    assert_eq!(skipped, expected);

    let elsewhere = Tree::of(&[
        ("_root.md", "x"),
        ("kb/_root.md", "x"),
        ("secret.md", "the secret"),
        ("kb/secret.md", "the secret"),
    ]);
    for (link, target) in [("kb", ""), ("config", ""), ("config/kb", "kb")] {
        let tree = Tree::of(&[("notes.md", "Mine.")]);
        std::fs::create_dir_all(tree.at(link).parent().unwrap()).unwrap();
        symlink(elsewhere.0.path().join(target), tree.at(link)).unwrap();
        let found = folder(tree.0.path()).map(|(_, found)| found.notes).unwrap_or_default();
        assert!(!found.iter().any(|(_, text)| text.contains("secret")), "{link}: {found:?}");
    }

    let deep = Tree::of(&[("SOUL.md", "x"), (&format!("memory/{}deep.md", "a/".repeat(20)), "too deep")]);
    let (_, found) = folder(deep.0.path()).unwrap();
    assert_eq!(
        (names(&found), found.skipped.as_slice()),
        (vec!["SOUL"], &["memory/a/a/a/a/a/a: other_folder".to_owned()][..])
    );
}

#[test]
fn a_long_note_comes_in_parts() {
    let text = "A line with an ä in it.\n".repeat(5_000);
    let tree = Tree::of(&[("MEMORY.md", &text)]);
    let mut parts = Vec::new();
    let read = read(tree.0.path(), &mut |item| {
        if let ArchiveItem::Note(note) = item {
            parts.push((note.part, note.text));
        }
        ControlFlow::Continue(())
    });
    assert!(read.is_ok());
    assert_eq!(parts.iter().map(|(part, _)| *part).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert!(parts.iter().all(|(_, text)| text.len() <= 48 << 10 && text.starts_with("A line")));
    assert_eq!(parts.into_iter().map(|(_, text)| text).collect::<String>(), text.trim());
}

const SESSION: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-06T07:00:00.000Z","cwd":"/home/ada"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-02-06T07:49:03.491Z","message":{"role":"user","content":[{"type":"text","text":"Which wood lasts?"}]}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-02-06T07:49:10Z","message":{"role":"assistant","content":[{"type":"text","text":"Oak."}]}}
{"type":"message","id":"c","parentId":"a","timestamp":"2026-02-06T07:50:00Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"t"}]}}
{"type":"message","id":"d","parentId":"c","timestamp":"2026-02-06T07:50:01Z","message":{"role":"toolResult","content":[{"type":"text","text":"a page"}]}}
{"type":"message","id":"e","parentId":"d","timestamp":"2026-02-06T07:50:02Z","message":{"role":"assistant","content":[{"type":"text","text":"Larch."}]}}
not json
{"type":"compaction","id":"f","parentId":"e","timestamp":"2026-02-06T08:00:00Z","summary":"s"}
{"type":"message","id":"g","parentId":"f","timestamp":"2026-02-06T08:01:00Z","message":{"role":"user","content":"Thank you!"}}
"#;

#[test]
fn openclaw_sessions_are_read_along_their_last_branch() {
    let tree = Tree::of(&[
        ("openclaw.json", "{}"),
        ("credentials/token.md", "secret"),
        ("workspace/SOUL.md", "x"),
        ("workspace-work/MEMORY.md", "y"),
        ("agents/main/sessions/sessions.json", "{}"),
        ("agents/main/sessions/s1.jsonl", SESSION),
        ("agents/main/sessions/other.jsonl", "{\"type\":\"event\"}\n"),
    ]);
    let (kind, found) = folder(tree.0.path()).unwrap();
    assert_eq!(
        (kind, found.talks.len(), names(&found)),
        (ArchiveKind::OpenClaw, 1, vec!["SOUL", "workspace-work/MEMORY"])
    );
    assert_eq!(found.talks[0].title, "Which wood lasts?");
    assert_eq!(texts(&found.talks[0]), ["User: Which wood lasts?", "OpenClaw: Larch.", "User: Thank you!"]);
    assert_eq!(found.talks[0].messages[0].at, Timestamp::of_rfc3339("2026-02-06T07:49:03.491Z"));
    assert_eq!(found.skipped, ["unknown", "other_version", "not_said"]);
    for path in ["agents/main/sessions", "agents/main/sessions/s1.jsonl"] {
        assert_eq!(folder(&tree.at(path)).unwrap().1.talks, found.talks, "{path}");
    }
    let broken = SESSION.replace("\"parentId\":\"d\"", "\"parentId\":\"gone\"");
    let round = SESSION.replace("\"parentId\":null", "\"parentId\":\"e\"");
    for odd in [broken, round, SESSION.replace("\"id\":\"e\",", "")] {
        tree.put("agents/main/sessions/s1.jsonl", odd.as_bytes());
        assert_eq!(folder(tree.0.path()).unwrap().1.talks[0].messages.len(), 4, "all of it: {odd}");
    }
    let error = folder(&tree.at("agents/main/sessions/other.jsonl")).unwrap_err();
    assert!(matches!(error, ImportError::NotRecognised));
    symlink(tree.at("agents/main/sessions/s1.jsonl"), tree.at("link.jsonl")).unwrap();
    assert!(folder(&tree.at("link.jsonl")).is_err());
}

proptest! {
    /// Proves: privacy/import-limits
    #[test]
    fn no_change_of_a_session_stops_the_program(at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 1..6)) {
        let mut session = SESSION.as_bytes().to_vec();
        let at = at.index(session.len());
        session.splice(at..at, bytes);
        let tree = Tree::of(&[]);
        tree.put("s1.jsonl", &session);
        let _ = folder(&tree.at("s1.jsonl"));
    }
}
