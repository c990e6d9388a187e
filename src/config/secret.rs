//! API keys and tokens: in the file, in an environment variable, or in a file of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::Home;
use super::error::ValueError;
use super::reader::ConfigReader;
use super::units::quoted;

/// A secret and its file.
pub struct FoundSecret {
    /// The secret.
    pub secret: SecretString,
    /// File that contains only the secret, if any.
    pub file: Option<PathBuf>,
}

/// Returns the secret `name` of a section, from the one of its three keys that is set.
pub fn secret(
    reader: &mut ConfigReader<'_>,
    at: &str,
    name: &str,
    env: &BTreeMap<String, String>,
    home: &Home,
) -> Option<FoundSecret> {
    let (by_env, by_file) = (format!("{name}_env"), format!("{name}_file"));
    let ways = [name, &by_env, &by_file];
    let mut set = ways.iter().filter(|way| reader.is_written(at, way));
    if let (Some(_), Some(second)) = (set.next(), set.next()) {
        let what = format!("More than one of {name}, {by_env} and {by_file} is set");
        reader.refuse(at, second, ValueError::new(what, "keep one and delete the others"));
        return None;
    }
    let inline = reader.get(at, name, |text| usable(text).map(|secret| FoundSecret { secret, file: None }));
    let from_env = reader.get(at, &by_env, |variable| from_env(variable, env));
    let from_file = reader.get(at, &by_file, |path| from_file(path, home));
    inline.or(from_env).or(from_file)
}

fn from_env(variable: &str, env: &BTreeMap<String, String>) -> Result<FoundSecret, ValueError> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    // The value may be the secret itself, so an invalid name is not repeated.
    if !variable.chars().all(is_name) || variable.starts_with(|c: char| c.is_ascii_digit()) {
        let fix = "write the variable's name, in capitals, as \"COMPLINE_MODEL_KEY\"";
        return Err(ValueError::new("This is no name of an environment variable", fix));
    }
    let Some(text) = env.get(variable).filter(|text| !text.trim().is_empty()) else {
        let what = format!("The environment variable {variable} is not set");
        return Err(ValueError::new(what, "set it where Compline is started, or name another"));
    };
    Ok(FoundSecret { secret: usable(text)?, file: None })
}

fn from_file(path: &str, home: &Home) -> Result<FoundSecret, ValueError> {
    let path = absolute(path, home).ok_or_else(|| {
        ValueError::new(
            "This is no path of a file",
            "write an absolute path, or HOME/ and a name for a file in Compline's home",
        )
    })?;
    let unreadable = |reason: &str| {
        let what = format!("{} cannot be read: {reason}", quoted(&path.to_string_lossy()));
        ValueError::new(what, "make it a text file that Compline can read, or name another")
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error.to_string()))?;
    Ok(FoundSecret { secret: usable(&text)?, file: Some(path) })
}

/// Resolves a path that does not depend on the current directory. A leading `HOME/` means
/// Compline's home.
pub fn absolute(text: &str, home: &Home) -> Option<PathBuf> {
    match text.strip_prefix("HOME/") {
        Some(rest) => Some(home.path().join(rest)),
        None => Some(Path::new(text).to_owned()).filter(|path| path.is_absolute()),
    }
}

fn usable(text: &str) -> Result<SecretString, ValueError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValueError::new("It is empty", "put the key or token there, or delete the line"));
    }
    if !text.chars().all(|c| c.is_ascii_graphic()) {
        let what = "It holds spaces or letters that no key or token has";
        return Err(ValueError::new(what, "copy it again, whole and alone"));
    }
    Ok(SecretString::from(text.to_owned()))
}
