//! `[[mcp]]`: MCP servers, their transports and their environments.
//!
//! A program starts with an environment of its own: the locations of programs, the user's home and
//! temporary files, the language, the time zone, and the variables that are named here. All other
//! variables of Compline, above all API keys, are not passed on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use secrecy::SecretString;
use url::Url;

use super::error::ValueError;
use super::reader::ConfigReader;
use super::units::{self, quoted, wrong};
use super::{Mcp, McpTransport, models};

/// Variables passed to every program, besides those that begin with `LC_`.
const PASSED: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];

/// Interprets all servers.
pub fn servers(reader: &mut ConfigReader<'_>, workspace: &Path) -> Vec<Mcp> {
    let guarded = GuardedPaths::of(reader, workspace);
    let mut names = BTreeSet::new();
    let mut servers = Vec::new();
    for at in reader.each("mcp") {
        let name = reader.need(&at, "name", |text| unique_name(text, &mut names));
        let transport = transport(reader, &at, &guarded);
        let read_only = reader.get(&at, "trusted_read_only", units::list).unwrap_or_default();
        let environment = environment(reader, &at);
        servers.extend(name.zip(transport).map(|(name, transport)| Mcp {
            name,
            transport,
            trusted_read_only: read_only.into_iter().collect(),
            environment,
        }));
    }
    servers
}

fn unique_name(text: &str, taken: &mut BTreeSet<String>) -> Result<String, ValueError> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_sound = (1..=32).contains(&text.len()) && text.chars().all(is_allowed) && !text.contains("--");
    if !is_sound || text.starts_with('-') || text.ends_with('-') {
        let fix = "write 1 to 32 lower-case letters, digits and single hyphens, as \"files\"";
        return Err(wrong(text, "cannot be the name of a server", fix));
    }
    if !taken.insert(text.to_owned()) {
        let fix = "give each server a name of its own";
        return Err(ValueError::new(format!("There is another {} already", quoted(text)), fix));
    }
    Ok(text.to_owned())
}

fn transport(reader: &mut ConfigReader<'_>, at: &str, guarded: &GuardedPaths) -> Option<McpTransport> {
    let is_set = ["command", "url"].map(|way| reader.is_written(at, way));
    if is_set == [true, true] {
        let fix = "keep command for a program that is to be started, or url for a server that runs already";
        reader.refuse(at, "url", ValueError::new("Both command and url are set", fix));
        return None;
    }
    if is_set == [false, false] {
        let fix = "add command = [\"program\", \"argument\"], or url = \"https://mcp.example.org/mcp\"";
        let problem = ValueError::new("It does not say how the server is reached", fix);
        reader.lacks_because(at, "command", problem);
        return None;
    }
    let program = reader.get(at, "command", |text| command(text, guarded));
    program.map(McpTransport::Command).or_else(|| reader.get(at, "url", url).map(McpTransport::Url))
}

fn command(text: &str, guarded: &GuardedPaths) -> Result<Vec<String>, ValueError> {
    let words = units::list(text)?;
    if words.first().is_none_or(String::is_empty) {
        let fix = "write the program first, as [\"mcp-server\", \"--quiet\"]";
        return Err(ValueError::new("It names no program", fix));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(ValueError::new("A word of it holds a NUL character", "take it out"));
    }
    guarded.check(&words)?;
    Ok(words)
}

fn url(text: &str) -> Result<Url, ValueError> {
    models::address(text)?;
    Url::parse(text.trim()).map_err(|_| ValueError::new("This is no address of a server", "write it with https://"))
}

/// Returns the complete environment of a server's program.
fn environment(reader: &mut ConfigReader<'_>, at: &str) -> BTreeMap<String, SecretString> {
    let named = reader.get(at, "pass_env", variables).unwrap_or_default();
    for name in named.iter().filter(|name| !reader.env.contains_key(*name)) {
        reader.warnings.push(format!("{at}.pass_env names {name}, which is not set where Compline is started"));
    }
    let is_passed = |name: &str| is_always_passed(name) || named.contains(name);
    let passed = reader.env.iter().filter(|(name, _)| is_passed(name));
    passed.map(|(name, value)| (name.clone(), SecretString::from(value.clone()))).collect()
}

fn is_always_passed(name: &str) -> bool {
    PASSED.contains(&name) || name.starts_with("LC_")
}

impl Mcp {
    /// Returns the values that the server alone is given, such as its keys.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.environment.iter().filter(|(name, _)| !is_always_passed(name)).map(|(_, value)| value)
    }
}

fn variables(text: &str) -> Result<BTreeSet<String>, ValueError> {
    let names = units::list(text)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |name: &String| !name.is_empty() && name.chars().all(is_part);
    if !names.iter().all(is_name) {
        // The list may contain a value instead of a name, so it is not repeated.
        let fix = "write the names alone, as [\"MCP_SERVER_KEY\"], and set their values where Compline is started";
        return Err(ValueError::new("It holds something that is no name of an environment variable", fix));
    }
    Ok(names.into_iter().collect())
}

/// Separators of paths within a word: `--root=/a`, `/a:/b`, `file:///a`, a line for a shell.
const BETWEEN: [char; 9] = ['=', ':', ',', ';', ' ', '\t', '\n', '"', '\''];

/// Paths that no server may be pointed at.
pub struct GuardedPaths {
    paths: Vec<(&'static str, PathBuf)>,
    user_home: Option<PathBuf>,
}

impl GuardedPaths {
    /// Returns the guarded paths of the configuration that is being read.
    pub fn of(reader: &ConfigReader<'_>, workspace: &Path) -> Self {
        let paths = [
            ("Compline's home", reader.home.path().to_owned()),
            ("the workspace", workspace.to_owned()),
            ("the configuration", PathBuf::from(reader.source.file)),
        ];
        let paths = paths.into_iter().filter_map(|(name, guarded)| Some((name, std::path::absolute(guarded).ok()?)));
        let paths = paths.flat_map(|(name, guarded)| [(name, followed(&guarded)), (name, plain(&guarded))]).collect();
        Self { paths, user_home: reader.env.get("HOME").map(PathBuf::from) }
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
        let forms = [followed(&path), plain(&path)];
        let touches = |guarded: &Path| forms.iter().any(|form| form.starts_with(guarded) || guarded.starts_with(form));
        self.paths.iter().find(|(_, guarded)| touches(guarded)).map(|(name, _)| *name)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.user_home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => Path::new(McpTransport::WORKING_DIR).join(path),
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
    use secrecy::ExposeSecret;

    use super::super::{Home, parse};
    use super::*;

    fn read(text: &str) -> Result<Vec<Mcp>, String> {
        let env = [("PATH", "/bin"), ("LC_TIME", "C"), ("SECRET", "s"), ("WANTED", "w"), ("COMPLINE__TIMEZONE", "UTC")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let loaded = parse(text, "/etc/compline.toml", &env, Home::at("/home/ada/compline"));
        loaded.map(|loaded| loaded.config.mcp).map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_gets_only_what_it_is_given() {
        let servers = read(
            "[[mcp]]\nname = \"files\"\ncommand = [\"serve\", \"-q\"]\ntrusted_read_only = [\"read\"]\npass_env = [\"WANTED\"]\n\
             [[mcp]]\nname = \"far\"\nurl = \"http://127.0.0.1:1/mcp/\"",
        )
        .unwrap();
        let [files, far] = servers.as_slice() else { panic!("{servers:?}") };
        assert_eq!(files.transport, McpTransport::Command(vec!["serve".to_owned(), "-q".to_owned()]));
        assert_eq!(far.transport, McpTransport::Url(Url::parse("http://127.0.0.1:1/mcp/").unwrap()));
        assert!(files.trusted_read_only.contains("read") && far.trusted_read_only.is_empty());
        let given: Vec<_> =
            files.environment.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        assert_eq!(given, [("LC_TIME", "C"), ("PATH", "/bin"), ("WANTED", "w")]);
    }

    #[test]
    fn lists_may_stand_in_the_environment() {
        let env = [("COMPLINE__MCP__1__NAME", "files"), ("COMPLINE__MCP__1__COMMAND", "[\"serve\", \"a b\"]")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let config = parse("", "c.toml", &env, Home::at("/home/ada/compline")).unwrap().config;
        assert_eq!(config.mcp[0].transport, McpTransport::Command(vec!["serve".to_owned(), "a b".to_owned()]));
    }

    #[test]
    fn an_invalid_mcp_setting_is_reported_with_its_place() {
        let server = |rest: &str| format!("[[mcp]]\nname = \"files\"\n{rest}");
        let program = "command = [\"serve\"]";
        for (text, told) in [
            (server(""), ["line 2", "mcp[1].command", "how the server is reached"]),
            (server("url = \"http://h/\"\ncommand = [\"serve\"]"), ["line 3", "mcp[1].url", "Both command and url"]),
            (server("command = []"), ["line 3", "mcp[1].command", "names no program"]),
            (
                server("command = \"serve\""),
                ["line 3", "a list of texts in quotes, and is text in quotes", "command = ["],
            ),
            (server("command = [\"serve\", 3]"), ["line 3", "is a list of something else", "command = ["]),
            (
                server("command = [\"serve\", \"--root=/home/ada\"]"),
                ["line 3", "would give the server", "directory of its own"],
            ),
            (server("command = [\"serve\", \"/etc\"]"), ["line 3", "the configuration", "directory of its own"]),
            (server("url = \"ftp://h/\""), ["line 3", "mcp[1].url", "https://"]),
            (server(&format!("{program}\npass_env = [\"K=v\"]")), ["line 4", "mcp[1].pass_env", "names alone"]),
            (server(&format!("{program}\n[[mcp]]\nname = \"files\"\n{program}")), ["line 5", "mcp[2].name", "another"]),
            (format!("[[mcp]]\n{program}"), ["line 2", "mcp[1].name", "is missing"]),
        ] {
            let error = read(&text).unwrap_err();
            assert!(told.iter().all(|part| error.contains(part)), "{text}\n---\n{error}");
        }
        for name in ["", "Files", "a b", "-a", "a-", "a--b", "a_b", &"a".repeat(33)] {
            assert!(read(&format!("[[mcp]]\nname = \"{name}\"\n{program}")).is_err(), "{name}");
        }
    }

    fn guarded(home: &Path, workspace: &Path) -> GuardedPaths {
        let paths = [("Compline's home", home), ("the workspace", workspace)];
        let paths = paths.into_iter().flat_map(|(name, guarded)| [(name, followed(guarded)), (name, plain(guarded))]);
        GuardedPaths { paths: paths.collect(), user_home: Some(PathBuf::from("/home/ada")) }
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
