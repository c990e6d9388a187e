//! Prevents MCP servers from being pointed at Compline's own files.
//!
//! A server that was given the home, or a directory around it, would hand every file in it to
//! anyone who can talk a model into asking. So a word of a command is refused if it is, contains or
//! lies in the home, the workspace or the configuration, both as written and with links followed.
//! This is no sandbox: a program runs as the same user and can open any file. It prevents
//! accidental misconfiguration of an honest server.

use std::path::{Component, Path, PathBuf};

use super::McpReach;
use super::error::ValueError;
use super::interpreter::Meaning;
use super::units::quoted;

/// Separators of paths within a word: `--root=/a`, `/a:/b`, `file:///a`, a line for a shell.
const BETWEEN: [char; 9] = ['=', ':', ',', ';', ' ', '\t', '\n', '"', '\''];

/// Paths that no server may be pointed at.
pub struct GuardedPaths {
    places: Vec<(&'static str, PathBuf)>,
    user_home: Option<PathBuf>,
}

impl GuardedPaths {
    /// Returns the guarded paths of the configuration that is being read.
    pub fn of(meaning: &Meaning<'_>, workspace: &Path) -> Self {
        let places = [
            ("Compline's home", meaning.home.path().to_owned()),
            ("the workspace", workspace.to_owned()),
            ("the configuration", PathBuf::from(meaning.reader.source.file)),
        ];
        let places = places.into_iter().filter_map(|(name, place)| Some((name, std::path::absolute(place).ok()?)));
        let places = places.flat_map(|(name, place)| [(name, followed(&place)), (name, plain(&place))]).collect();
        Self { places, user_home: meaning.env.get("HOME").map(PathBuf::from) }
    }

    /// Returns an error if a word of the command leads to a guarded path.
    pub fn check(&self, words: &[String]) -> Result<(), ValueError> {
        for word in words {
            let pieces = word.split(BETWEEN).chain([word.as_str()]).filter(|piece| !piece.is_empty());
            if let Some(name) = pieces.filter_map(|piece| self.hit(piece)).next() {
                let what = format!("{} would give the server {name}", quoted(word));
                let fix = "point the server at a directory of its own, neither inside Compline's home nor around it";
                return Err(ValueError::new(what, fix));
            }
        }
        Ok(())
    }

    /// Returns the guarded path that equals, contains or lies in this path.
    fn hit(&self, path: &str) -> Option<&'static str> {
        let path = self.absolute(path);
        let ways = [followed(&path), plain(&path)];
        let touches = |place: &Path| ways.iter().any(|way| way.starts_with(place) || place.starts_with(way));
        self.places.iter().find(|(_, place)| touches(place)).map(|(name, _)| *name)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.user_home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => Path::new(McpReach::START).join(path),
        }
    }
}

/// Resolves links as far as the path exists. The rest is taken as written.
fn followed(path: &Path) -> PathBuf {
    walked(path, |here| here.canonicalize().unwrap_or(here))
}

/// Normalises `.` and `..` without resolving links.
fn plain(path: &Path) -> PathBuf {
    walked(path, |here| here)
}

fn walked(path: &Path, step: impl Fn(PathBuf) -> PathBuf) -> PathBuf {
    path.components().fold(PathBuf::from("/"), |mut here, component| match component {
        Component::ParentDir => {
            here.pop();
            here
        }
        Component::Normal(name) => step(here.join(name)),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => here,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(home: &Path, workspace: &Path) -> GuardedPaths {
        let places = [("Compline's home", home), ("the workspace", workspace)];
        let places = places.into_iter().flat_map(|(name, place)| [(name, followed(place)), (name, plain(place))]);
        GuardedPaths { places: places.collect(), user_home: Some(PathBuf::from("/home/ada")) }
    }

    fn is_refused(guarded: &GuardedPaths, word: &str) -> bool {
        guarded.check(&["program".to_owned(), word.to_owned()]).is_err()
    }

    /// Proves: tools/server-failure
    #[test]
    fn a_word_that_leads_to_the_home_is_refused_however_it_is_written() {
        let guarded = guarded(Path::new("/home/ada/compline"), Path::new("/srv/knowledge"));
        for word in [
            "/",
            ".",
            "..",
            "~",
            "~/",
            "~/compline/skills",
            "/home",
            "home/ada",
            "/home/ada/compline",
            "/home/ada/compline/",
            "/home/ada/compline/compline.toml",
            "/home/ada/x/../compline",
            "/srv",
            "/srv/knowledge/people",
            "--root=/home/ada",
            "--allow=/data,/srv/knowledge",
            "/home/ada:/data",
            "file:///home/ada/compline",
            "cd /home/ada && serve",
        ] {
            assert!(is_refused(&guarded, word), "{word}");
        }
        for word in [
            "",
            "-y",
            "server",
            "@example/server-files",
            "/home/ada/music",
            "~/music",
            "/home/ada/compline-music",
            "/srv/knowledge2",
            "--root=/data",
            "https://example.org/home/ada",
            "/home/ada/compline/../music",
        ] {
            assert!(!is_refused(&guarded, word), "{word}");
        }
    }

    #[test]
    fn links_are_followed_on_both_sides() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["real", "music"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::os::unix::fs::symlink(at("real"), at("home")).unwrap();
        std::os::unix::fs::symlink(at("real"), at("other")).unwrap();
        let guarded = guarded(&at("home"), Path::new("/srv/knowledge"));
        for (name, refused) in [("real/x", true), ("other", true), ("other/../music", false), ("music", false)] {
            assert_eq!(is_refused(&guarded, &at(name).to_string_lossy()), refused, "{name}");
        }
    }
}
