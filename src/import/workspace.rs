//! A folder in which another assistant keeps what it knows: OpenClaw's workspace, or Carpenter's
//! knowledge base. No real one of either was at hand.
//!
//! OpenClaw, as in `docs/concepts/agent-workspace.md` of `openclaw/openclaw`: Markdown files in the
//! root (`MEMORY.md`, `USER.md`, `SOUL.md`, …), notes of days and others in `memory/`, and
//! `skills/NAME/SKILL.md`. The folder around it, `~/.openclaw`, holds the workspaces of its agents
//! and their [`sessions`].
//!
//! Carpenter, as in `config_seed/kb` of `carpenter-ai/carpenter-core`, which its `CLAUDE.md` says
//! is copied to `config/kb`: a tree of Markdown files with `_root.md` at its top and `_index.md` in
//! its folders. A skill is `skills/NAME.md` or a folder `skills/NAME`. What it ships itself, its
//! manual and some skills, is left out by its name.
//!
//! No link is followed and only plain files are opened ([`super::folder`]), so nothing outside of
//! the folder is read.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::{EntryKind, entries, open, pass, skip};
use super::{ArchiveItem, ArchivedNote, ArchivedSkill, Each, ImportError, SkipReason, sessions};
use crate::skill::name::is_valid;
use crate::skill::{MAIN, SkillFolder, Unreadable, manifest};
use crate::store::ArchiveKind;
use crate::text::cut_bytes;

/// Maximum size of a file with notes, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Maximum length of a note, in bytes; a longer file is divided.
const MAX_NOTE: usize = 48 << 10;
/// Maximum depth of folders.
const MAX_DEPTH: usize = 6;
/// Files by which a workspace of OpenClaw is recognised.
const OPENCLAW: [&str; 4] = ["AGENTS.md", "SOUL.md", "USER.md", "MEMORY.md"];
/// Folders that lead to the knowledge base of Carpenter.
const CARPENTER: [&[&str]; 3] = [&[], &["kb"], &["config", "kb"]];
/// Folders of Carpenter's manual.
const MANUAL: [&str; 14] = [
    "ai",
    "arcs",
    "chat",
    "config",
    "credentials",
    "debugging",
    "files",
    "git",
    "kb",
    "messaging",
    "scheduling",
    "security",
    "self-modification",
    "web",
];
/// Skills that come with Carpenter.
const SHIPPED_SKILLS: [&str; 6] =
    ["dark-factory", "failure-patterns", "git-workflow", "iterative-planning", "planner-root", "workflow-planning"];

/// Passes on what is in a folder of either program. Returns none if it is a folder of neither.
pub(super) fn read(path: &Path, left: &mut u64, each: Each<'_>) -> Result<Option<ArchiveKind>, ImportError> {
    let mut bases = CARPENTER.iter().filter_map(|names| folder_below(path, names));
    if let Some(base) = bases.find(|base| is_file(&base.join("_root.md"))) {
        return carpenter(&base, each).map(|()| Some(ArchiveKind::Carpenter));
    }
    if is_openclaw(path) {
        return openclaw(path, "", each).map(|()| Some(ArchiveKind::OpenClaw));
    }
    let is_read = openclaw_home(path, left, each)? || sessions::read_folder(path, left, each)?;
    Ok(is_read.then_some(ArchiveKind::OpenClaw))
}

fn is_openclaw(path: &Path) -> bool {
    OPENCLAW.iter().any(|name| is_file(&path.join(name)))
}

/// Follows names that are all folders, and no links.
fn folder_below(path: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().try_fold(path.to_owned(), |path, name| Some(path.join(name)).filter(|below| is_folder(below)))
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Passes on the workspaces and sessions in OpenClaw's own folder. Its configuration and
/// credentials are not looked at. Returns false if it is another folder.
fn openclaw_home(path: &Path, left: &mut u64, each: Each<'_>) -> Result<bool, ImportError> {
    let mut is_read = false;
    let has_workspace = folder_below(path, &["workspace"]).is_some_and(|below| is_openclaw(&below));
    if !is_file(&path.join("openclaw.json")) && !has_workspace {
        return Ok(false);
    }
    for (name, kind) in entries(path, each)? {
        let below = path.join(&name);
        if kind == EntryKind::Folder && name.starts_with("workspace") && is_openclaw(&below) {
            let shown = if name == "workspace" { String::new() } else { format!("{name}/") };
            openclaw(&below, &shown, each)?;
            is_read = true;
        } else if kind == EntryKind::Folder && name == "agents" {
            for (agent, _) in entries(&below, each)?.into_iter().filter(|(_, kind)| *kind == EntryKind::Folder) {
                let folder = below.join(agent).join("sessions");
                if is_folder(&folder) {
                    is_read |= sessions::read_folder(&folder, left, each)?;
                }
            }
        }
    }
    Ok(is_read)
}

fn openclaw(root: &Path, shown: &str, each: Each<'_>) -> Result<(), ImportError> {
    for (name, kind) in entries(root, each)? {
        let (path, shown) = (root.join(&name), format!("{shown}{name}"));
        match kind {
            EntryKind::Folder if name == "memory" => notes(&path, &shown, 1, each)?,
            EntryKind::Folder if name == "skills" => skills(&path, &shown, each)?,
            EntryKind::Folder => skip(SkipReason::OtherFolder, shown, each)?,
            EntryKind::File => note(&path, &shown, each)?,
        }
    }
    Ok(())
}

fn carpenter(root: &Path, each: Each<'_>) -> Result<(), ImportError> {
    for (name, kind) in entries(root, each)? {
        let path = root.join(&name);
        match kind {
            EntryKind::Folder if name == "skills" => carpenter_skills(&path, each)?,
            EntryKind::Folder if MANUAL.contains(&name.as_str()) => skip(SkipReason::Manual, name, each)?,
            EntryKind::Folder => notes(&path, &name, 1, each)?,
            EntryKind::File => note(&path, &name, each)?,
        }
    }
    Ok(())
}

/// Passes on the Markdown files below a folder.
fn notes(folder: &Path, shown: &str, depth: usize, each: Each<'_>) -> Result<(), ImportError> {
    for (name, kind) in entries(folder, each)? {
        let (path, shown) = (folder.join(&name), format!("{shown}/{name}"));
        match kind {
            EntryKind::Folder if depth < MAX_DEPTH => notes(&path, &shown, depth + 1, each)?,
            EntryKind::Folder => skip(SkipReason::OtherFolder, shown, each)?,
            EntryKind::File => note(&path, &shown, each)?,
        }
    }
    Ok(())
}

/// Passes on a Markdown file, in parts if it is long. A file that only lists a folder is no note.
fn note(path: &Path, shown: &str, each: Each<'_>) -> Result<(), ImportError> {
    let Some(stem) = shown.strip_suffix(".md") else { return skip(SkipReason::OtherFile, shown.to_owned(), each) };
    if matches!(stem.rsplit('/').next(), Some("_root" | "_index")) {
        return skip(SkipReason::Manual, shown.to_owned(), each);
    }
    let text = match text_of(path) {
        Ok(text) => text,
        Err(why) => return skip(why, shown.to_owned(), each),
    };
    let parts = parts(&text);
    let is_divided = parts.len() > 1;
    for (part, number) in parts.into_iter().zip(1..) {
        let part = ArchivedNote { path: stem.to_owned(), part: is_divided.then_some(number), text: part.to_owned() };
        pass(each(ArchiveItem::Note(part)))?;
    }
    Ok(())
}

/// Divides a text at ends of lines.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while rest.len() > MAX_NOTE {
        let head = cut_bytes(rest, MAX_NOTE);
        let end = head.rfind('\n').map_or(head.len(), |end| end + 1);
        let Some((part, after)) = rest.split_at_checked(end) else { break };
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Passes on the folders with a `SKILL.md`.
fn skills(folder: &Path, shown: &str, each: Each<'_>) -> Result<(), ImportError> {
    for (name, kind) in entries(folder, each)? {
        let shown = format!("{shown}/{name}");
        if kind == EntryKind::File {
            skip(SkipReason::OtherFile, shown, each)?;
            continue;
        }
        match SkillFolder::read(&folder.join(&name)) {
            Err(Unreadable::NotPlain(_)) => skip(SkipReason::Link, shown, each)?,
            Err(Unreadable::TooLarge) => skip(SkipReason::TooLarge, shown, each)?,
            Ok(content) if is_valid(&name) && content.get(MAIN).is_some() => {
                pass(each(ArchiveItem::Skill(ArchivedSkill { name, content })))?;
            }
            _ => skip(SkipReason::NoSkill, shown, each)?,
        }
    }
    Ok(())
}

/// Passes on Carpenter's skills in the form of our own.
fn carpenter_skills(folder: &Path, each: Each<'_>) -> Result<(), ImportError> {
    for (file, kind) in entries(folder, each)? {
        let (path, shown) = (folder.join(&file), format!("skills/{file}"));
        let name = file.trim_end_matches(".md").to_owned();
        if file == "_index.md" || SHIPPED_SKILLS.contains(&name.as_str()) {
            skip(SkipReason::Manual, shown, each)?;
            continue;
        }
        let main = if kind == EntryKind::Folder { path.join("_index.md") } else { path.clone() };
        let main = match text_of(&main) {
            Ok(text) => manifest::skill_of(&name, &text).filter(|_| is_valid(&name)).ok_or(SkipReason::NoSkill),
            Err(why) => Err(why),
        };
        let main = match main {
            Ok(main) => main,
            Err(why) => {
                skip(why, shown, each)?;
                continue;
            }
        };
        let mut files: Vec<(String, Arc<[u8]>)> = vec![(MAIN.to_owned(), Arc::from(main.into_bytes()))];
        let more = if kind == EntryKind::Folder { entries(&path, each)? } else { Vec::new() };
        for (more, kind) in more.into_iter().filter(|(more, _)| more != "_index.md") {
            match (kind, text_of(&path.join(&more))) {
                (EntryKind::File, Ok(text)) => files.push((format!("resources/{more}"), Arc::from(text.into_bytes()))),
                (EntryKind::File, Err(why)) => skip(why, format!("{shown}/{more}"), each)?,
                (EntryKind::Folder, _) => skip(SkipReason::OtherFolder, format!("{shown}/{more}"), each)?,
            }
        }
        pass(each(ArchiveItem::Skill(ArchivedSkill { name, content: SkillFolder::new(files) })))?;
    }
    Ok(())
}

/// Text of a file, or the reason why it is skipped.
fn text_of(path: &Path) -> Result<String, SkipReason> {
    let mut bytes = Vec::new();
    let file = open(path).map_err(|_| SkipReason::Unreadable)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|_| SkipReason::Unreadable)?;
    if u64::try_from(bytes.len()).map_or(true, |size| size > MAX_FILE) {
        return Err(SkipReason::TooLarge);
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(SkipReason::NotText)?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() { Err(SkipReason::Empty) } else { Ok(text.to_owned()) }
}
