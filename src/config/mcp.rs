//! `[[mcp]]`: MCP servers, their transports and their environments.
//!
//! A program starts with an environment of its own: the locations of programs, the user's home and
//! temporary files, the language, the time zone, and the variables that are named here. All other
//! variables of Compline, above all API keys, are not passed on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use secrecy::SecretString;
use url::Url;

use super::error::ValueError;
use super::interpreter::Meaning;
use super::rooted::GuardedPaths;
use super::units::{self, quoted};
use super::{Mcp, McpReach, models};

/// Variables passed to every program, besides those that begin with `LC_`.
const PASSED: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];

/// Interprets all servers.
pub fn servers(meaning: &mut Meaning<'_>, workspace: &Path) -> Vec<Mcp> {
    let guarded = GuardedPaths::of(meaning, workspace);
    let mut names = BTreeSet::new();
    let mut servers = Vec::new();
    for at in meaning.reader.each("mcp") {
        let name = meaning.reader.need(&at, "name", |text| unique_name(text, &mut names));
        let reach = reach(meaning, &at, &guarded);
        let read_only = meaning.reader.get(&at, "trusted_read_only", units::list).unwrap_or_default();
        let environment = environment(meaning, &at);
        servers.extend(name.zip(reach).map(|(name, reach)| Mcp {
            name,
            reach,
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
        return Err(ValueError::new(format!("{} cannot be the name of a server", quoted(text)), fix));
    }
    if !taken.insert(text.to_owned()) {
        let fix = "give each server a name of its own";
        return Err(ValueError::new(format!("There is another {} already", quoted(text)), fix));
    }
    Ok(text.to_owned())
}

fn reach(meaning: &mut Meaning<'_>, at: &str, guarded: &GuardedPaths) -> Option<McpReach> {
    let ways = ["command", "url"].map(|way| meaning.reader.is_written(at, way));
    if ways == [true, true] {
        let fix = "keep command for a program that is to be started, or url for a server that runs already";
        meaning.reader.refuse(at, "url", ValueError::new("Both command and url are set", fix));
        return None;
    }
    if ways == [false, false] {
        let fix = "add command = [\"program\", \"argument\"], or url = \"https://mcp.example.org/mcp\"";
        let trouble = ValueError::new("It does not say how the server is reached", fix);
        meaning.reader.lacks_because(at, "command", trouble);
        return None;
    }
    let program = meaning.reader.get(at, "command", |text| command(text, guarded));
    program.map(McpReach::Command).or_else(|| meaning.reader.get(at, "url", url).map(McpReach::Url))
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
fn environment(meaning: &mut Meaning<'_>, at: &str) -> BTreeMap<String, SecretString> {
    let named = meaning.reader.get(at, "pass_env", variables).unwrap_or_default();
    for name in named.iter().filter(|name| !meaning.env.contains_key(*name)) {
        meaning.reader.warnings.push(format!("{at}.pass_env names {name}, which is not set where Compline is started"));
    }
    let is_passed = |name: &str| PASSED.contains(&name) || name.starts_with("LC_") || named.contains(name);
    let passed = meaning.env.iter().filter(|(name, _)| is_passed(name));
    passed.map(|(name, value)| (name.clone(), SecretString::from(value.clone()))).collect()
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

#[cfg(test)]
mod tests {
    use super::super::{Home, parse};
    use super::*;
    use secrecy::ExposeSecret;

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
        assert_eq!(files.reach, McpReach::Command(vec!["serve".to_owned(), "-q".to_owned()]));
        assert_eq!(far.reach, McpReach::Url(Url::parse("http://127.0.0.1:1/mcp/").unwrap()));
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
        assert_eq!(config.mcp[0].reach, McpReach::Command(vec!["serve".to_owned(), "a b".to_owned()]));
    }

    #[test]
    fn what_cannot_be_is_told_with_its_place() {
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
}
