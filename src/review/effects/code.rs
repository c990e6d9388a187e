//! Effects told in code: commands of a shell, calls of a programming language, names of tools.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::sentence::Hit;
use super::{Effect, EffectKind};
use crate::review::text_context::Context;

/// Extensions of files that a system or an interpreter runs.
const SCRIPTS: &str = "
    sh bash zsh fish py pyw js mjs cjs ts rb pl php lua ps1 psm1 bat cmd vbs applescript command exe dll so
    dylib jar awk
";

/// Info strings of fences that hold commands of a shell.
const SHELLS: &str = "sh bash shell zsh console terminal fish powershell ps1 pwsh cmd bat batch shell-session";

/// Commands that only show, change or set something of the shell itself.
const BUILTINS: &str = "
    echo cd ls pwd set true false test if then else elif fi for do done while case esac in local return function
    printf sleep exit read shift export source type which wc sort uniq head tail tr cut clear man help alias date
    basename dirname let time break continue tee mkdir
";

/// Programs by which a code span is known for a command.
const PROGRAMS: &str = "
    curl wget git npm npx bunx pnpm yarn uv uvx pip pip3 pipx python python3 node deno bun bash sh zsh ssh scp sftp
    rsync docker podman kubectl helm make cmake cargo go java ruby perl php gcc ffmpeg pandoc tar unzip zip openssl gpg
    base64 crontab at systemctl launchctl service brew apt apt-get yum dnf pacman snap chmod chown sudo su kill pkill
    mount dd mkfs nc ncat socat telnet ftp aws gcloud az gh terraform ansible mysql psql sqlite3 redis-cli osascript
    xdg-open powershell pwsh reg schtasks certutil mshta rundll32 nohup eval exec env printenv cat cp mv rm rmdir shred
    iwr irm iex sed awk jq find xargs dig nslookup mail sendmail history security passwd useradd iptables
";

/// Programs whose first argument is what they run.
const INTERPRETERS: &str =
    "python python3 node deno bun bash sh zsh ruby perl php npx bunx uvx powershell pwsh eval exec sudo";

/// Words after which the other words of a command say what is fetched, installed or run.
const FETCHES: &str = "install add i exec run dlx clone push pull remote submodule";

/// Options and words by which a program sends something.
const CURL_SENDS: &str = "
    -d --data --data-raw --data-binary --data-ascii --data-urlencode --json -F --form --form-string -T --upload-file
    POST PUT PATCH -XPOST -XPUT -XPATCH
";
const WGET_SENDS: &str = "--post-data --post-file --body-data --body-file --method";

/// Programs that copy to another computer if an argument names one.
const COPIES: &str = "scp sftp rsync rclone";

/// Programs by which files are deleted.
const DELETES: &str = "rm rmdir shred unlink del mkfs wipefs truncate srm";

/// Returns whether a file is executable, judging by its extension or its first line.
pub(in crate::review) fn is_script(path: &str, bytes: &[u8]) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    bytes.starts_with(b"#!") || ending.is_some_and(|ending| is_in(SCRIPTS, &ending))
}

/// Returns whether a script holds commands of a shell.
pub(super) fn is_shell(path: &str, bytes: &[u8]) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    is_in(SHELLS, &ending) || first.starts_with(b"#!") && first.ends_with(b"sh")
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Finds all effects of the code in a text; all of it is commands if it is a script of a shell.
pub(super) fn read(text: &str, context: &Context<'_>, is_shell: bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let language = context.language(at).map(str::to_ascii_lowercase);
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let is_commands = match &language {
            Some(language) => is_in(SHELLS, language.split([' ', '{', ',']).next().unwrap_or_default()),
            None => is_shell,
        };
        let is_bare = language.is_some_and(|language| language.is_empty());
        if is_fence {
            at += line.len();
            continue;
        }
        if is_commands || is_bare && begins_with_program(line) {
            commands(line, at, &mut hits);
        } else {
            for span in spans(line) {
                let code = line.get(span.clone()).unwrap_or_default();
                if begins_with_program(code) && code.contains(' ') {
                    commands(code, at + span.start, &mut hits);
                } else if is_tool(code) {
                    let place = at + span.start..at + span.end;
                    hits.push(Hit { kind: EffectKind::Tools, at: place, object: code.to_owned() });
                }
            }
        }
        at += line.len();
    }
    calls(text, &mut hits);
    hits
}

/// Returns the code spans of a line.
fn spans(line: &str) -> Vec<Range<usize>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    ticks.chunks_exact(2).filter_map(|pair| if let [from, to] = pair { Some(from + 1..*to) } else { None }).collect()
}

fn begins_with_program(code: &str) -> bool {
    program(code).is_some_and(|(name, _)| is_in(PROGRAMS, name))
}

/// Returns whether a code span is the name of a tool: two words, joined.
fn is_tool(code: &str) -> bool {
    const OWN: &str = "
        memory_search read_conversation web_fetch load_skill load_skill_resource submit_skill remember memory_save
        memory_recall memory_section read_file write_file edit_file list_files remind schedule list_scheduled
        change_scheduled cancel_scheduled heartbeat_done
    ";
    let is_name = code.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    is_name && (is_in(OWN, code) || code.contains("__") && !code.starts_with("__"))
}

/// Returns the first word of a command without path, prompt and assignments, and its arguments.
fn program(command: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = command.split_whitespace().skip_while(|word| {
        matches!(*word, "$" | ">" | "%" | "#" | "nohup" | "time" | "then" | "do" | "else" | "command" | "PS>" | "!")
            || word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
    });
    let first = words.next()?.trim_matches(['"', '\'', '(', '`', '$', '{']);
    let name = first.rsplit('/').next().unwrap_or(first);
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'))
        && name.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_name.then(|| (name, words.collect()))
}

/// Finds the programs of a line of commands, and what it deletes.
fn commands(line: &str, start: usize, hits: &mut Vec<Hit>) {
    if line.trim_start().starts_with('#') {
        return;
    }
    let mut at = start;
    for part in line.split_inclusive(['|', ';', '&', '\n']) {
        let command = part.trim_end_matches(['|', ';', '&', '\n', '\\']);
        // The words of a substitution are commands too.
        for (inner, _) in command.match_indices("$(").chain(command.match_indices('`')) {
            let rest = command.get(inner..).unwrap_or_default().trim_start_matches(['$', '(', '`']);
            push_program(rest.split([')', '`']).next().unwrap_or_default(), at + inner, hits);
        }
        push_program(command, at, hits);
        at += part.len();
    }
}

fn push_program(command: &str, start: usize, hits: &mut Vec<Hit>) {
    let Some((name, arguments)) = program(command) else { return };
    let at = start..start + command.trim_end().len();
    let shown = crate::text::one_line(command.trim().trim_start_matches(['$', '>', '%', ' ']));
    let first = arguments.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let has = |list: &[&str]| list.iter().any(|word| arguments.contains(word));
    let deletes = is_in(DELETES, name)
        || name == "git"
            && (has(&["clean"]) || has(&["reset"]) && has(&["--hard"]) || has(&["push"]) && has(&["--force", "-f"]))
        || name == "find" && has(&["-delete"])
        || name == "dd" && arguments.iter().any(|word| word.starts_with("of=/dev"))
        || name.eq_ignore_ascii_case("remove-item");
    if sends(name, &arguments) {
        hits.push(Hit { kind: EffectKind::Sends, at: at.clone(), object: shown.clone() });
    }
    if deletes {
        hits.push(Hit { kind: EffectKind::Deletes, at, object: shown });
    } else if !is_in(BUILTINS, name) {
        let inline = has(&["-c", "-e", "-enc", "-EncodedCommand"]);
        let words: Vec<&str> = arguments.iter().filter(|word| !word.starts_with('-')).copied().collect();
        let object = match is_in(INTERPRETERS, name) {
            true if inline => shown,
            _ if words.iter().take(3).any(|word| is_in(FETCHES, word)) => format!("{name} {}", words.join(" ")),
            true => format!("{name} {first}").trim_end().to_owned(),
            false => name.to_owned(),
        };
        hits.push(Hit { kind: EffectKind::Runs, at, object });
    }
}

/// Returns whether a command sends something of the computer to another.
fn sends(name: &str, arguments: &[&str]) -> bool {
    let has = |list| arguments.iter().any(|word| is_in(list, word.split(['=', '@']).next().unwrap_or_default()));
    match name {
        "curl" => has(CURL_SENDS),
        "wget" => has(WGET_SENDS),
        _ => is_in(COPIES, name) && arguments.iter().any(|word| word.contains(':')),
    }
}

/// Returns whether an effect runs what it gets from elsewhere, or makes something run again later.
pub(super) fn is_unbounded(effect: &Effect) -> bool {
    const LASTING: &[&str] =
        &["crontab", "launchctl", "schtasks", "systemctl", "at", "nc", "ncat", "socat", "mkfs", "iptables"];
    let object = effect.object.to_ascii_lowercase();
    effect.kind == EffectKind::Runs
        && (object.contains(['|', '<', '>'])
            || object.contains("/dev/tcp")
            || object.contains("$(curl")
            || object.contains("eval")
            || object.split(' ').next().is_some_and(|first| LASTING.contains(&first)))
        || effect.kind == EffectKind::Writes && object.contains("/.")
}

/// Calls of programming languages by their effect.
static CALLS: LazyLock<Vec<(EffectKind, Regex)>> = LazyLock::new(|| {
    [
        (EffectKind::Runs, r"\b(?:os\.(?:system|popen|exec\w*)|subprocess\.\w+|child_process|execSync|spawnSync|Runtime\.getRuntime|shell_exec|proc_open|Invoke-Expression|eval|exec|__import__|importlib\.import_module|Function)\s*\([^\n]{0,60}|\bjavascript:[^\s)]{1,60}|\b(?:curl|wget|iwr|irm|fetch|nc|ncat|base64|xxd|openssl)\b[^\n]{0,200}\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/\S*/)?(?:(?:ba|z|da|k)?sh|python[\d.]*(?:\s+-)?\s*(?:$|[\n;&`])|perl|ruby|node|iex)\b|\b(?:ba|z)?(?:sh|source|eval)\b[^\n]{0,20}(?:<\(|\$\(|`)\s*(?:curl|wget)[^\n]{0,60}|/dev/tcp/[^\n]{0,40}|(?i)>>?\s*[\x22']?[\w./~$-]{0,60}(?:\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)|authorized_keys|/etc/cron\S{0,20})\b|\bcrontab\s+-[^\n]{0,40}"),
        (EffectKind::Deletes, r"\b(?:os\.(?:remove|unlink|rmdir|removedirs)|shutil\.rmtree|unlinkSync|rmSync|fs\.(?:rm|unlink)|rimraf|Path\([^)\n]{0,40}\)\.unlink)\s*\([^\n]{0,60}|(?i)\b(?:drop\s+(?:table|database)|truncate\s+table|delete\s+from)\s+[\w.`]{1,60}"),
        (EffectKind::Sends, r"\b(?:requests\.(?:post|put|patch)|httpx\.(?:post|put)|axios\.(?:post|put)|urlopen|smtplib\.\w+|socket\.connect|sendBeacon|fetch|XMLHttpRequest)\s*\([^\n]{0,60}"),
        (EffectKind::Secret, r"(?i)\bos\.environ\b[^\n]{0,40}|\bprocess\.env\b[\w.\[\]']{0,40}|\$\{?[a-z_]*(?:key|token|secret|password|passwd|credential)s?[a-z_]*\}?|\bprintenv\b|(?:~|\$home|[/]root|[/]home[/]\w+)?/?\.(?:ssh|aws|gnupg|kube|docker/config|netrc|git-credentials|npmrc|pypirc|env)\b[\w./*-]{0,40}|/etc/(?:passwd|shadow|sudoers)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\b[\w./-]{0,40}(?:wallet\.dat|cookies\.sqlite|login\.keychain|logins\.json)\b|\bdocument\.cookie\b"),
    ]
    .into_iter()
    .filter_map(|(kind, pattern)| {
        let pattern = Regex::new(pattern);
        debug_assert!(pattern.is_ok(), "a pattern is not valid");
        Some((kind, pattern.ok()?))
    })
    .collect()
});

fn calls(text: &str, hits: &mut Vec<Hit>) {
    for (kind, pattern) in CALLS.iter() {
        for found in pattern.find_iter(text) {
            hits.push(Hit { kind: *kind, at: found.range(), object: crate::text::one_line(found.as_str().trim()) });
        }
    }
}

/// Returns the files that a text names, except those in an address, with their places.
pub(super) fn paths(text: &str, addresses: &[(Range<usize>, String)]) -> Vec<(Range<usize>, String)> {
    static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:~|\.{1,2})?(?:/[\w.@*-]+){2,}/?|~/[\w.@*-]+/?|[A-Za-z]:\\[\w.\\ -]{2,80}|\b[\w-]+(?:/[\w.-]+)*\.(?:md|txt|json|jsonl|ya?ml|toml|csv|tsv|pdf|docx?|xlsx?|pptx?|db|sqlite|log|conf|cfg|ini|pem|key|py|sh|js|ts|rb|zip|tar|gz|html?|xml|png|jpe?g|ics|eml|bak|env|plist|service|rs|go|java|sql|ipynb)\b|(?:^|[\s`'\x22])(\.(?:bashrc|zshrc|profile|bash_profile|gitconfig|gitignore|npmrc|env|netrc|vimrc)\b)").ok()
    });
    let mut found = Vec::new();
    for captures in PATH.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(path) = captures.get(1).or(captures.get(0)) else { continue };
        let at = path.range();
        let in_address = addresses.iter().any(|(address, _)| address.start < at.end && at.start < address.end);
        if !in_address && !path.as_str().starts_with("//") {
            found.push((at, path.as_str().trim_end_matches(['.', '/']).to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, is_shell: bool) -> Vec<(EffectKind, String)> {
        read(text, &Context::of(text), is_shell).into_iter().map(|hit| (hit.kind, hit.object)).collect()
    }

    #[test]
    fn scripts_are_recognised_by_extension_or_first_line() {
        for (path, bytes, script) in [
            ("scripts/run.SH", "echo", true),
            ("scripts/run", "#!/bin/sh\n", true),
            ("run.py", "", true),
            ("SKILL.md", "# Title", false),
            ("sh", "", false),
        ] {
            assert_eq!(is_script(path, bytes.as_bytes()), script, "{path}");
        }
    }

    #[test]
    fn commands_name_their_programs() {
        let text = "```bash\n$ sudo curl -s x | FOO=1 jq . && cd y; rm -rf ~/notes\n```\nThen `git push --force` it.";
        let found = found(text, false);
        let object =
            |kind| found.iter().filter(|(of, _)| *of == kind).map(|(_, object)| object.as_str()).collect::<Vec<_>>();
        assert_eq!(object(EffectKind::Runs), ["sudo curl", "jq"]);
        assert_eq!(object(EffectKind::Deletes), ["rm -rf ~/notes", "git push --force"]);
    }

    #[test]
    fn arguments_count_where_they_say_what_is_fetched_or_sent() {
        for (command, kind, object) in [
            ("pip install good", EffectKind::Runs, "pip install good"),
            ("sudo apt install -y good", EffectKind::Runs, "sudo apt install good"),
            ("python -m pip install good", EffectKind::Runs, "python pip install good"),
            ("git clone https://a.example/b", EffectKind::Runs, "git clone https://a.example/b"),
            ("git status", EffectKind::Runs, "git"),
            ("curl -d @notes.md https://a.example", EffectKind::Sends, "curl -d @notes.md https://a.example"),
            ("curl -d@notes.md https://a.example", EffectKind::Sends, "curl -d@notes.md https://a.example"),
            ("wget --post-file=x https://a.example", EffectKind::Sends, "wget --post-file=x https://a.example"),
            ("curl -X POST https://a.example", EffectKind::Sends, "curl -X POST https://a.example"),
            ("scp notes.md a.example:", EffectKind::Sends, "scp notes.md a.example:"),
        ] {
            let found = found(&format!("Do `{command}`."), false);
            assert!(found.contains(&(kind, object.to_owned())), "{command}: {found:?}");
        }
        for command in ["curl -s https://a.example", "wget -T 5 https://a.example/x", "rsync -a notes backup"] {
            let found = found(&format!("Do `{command}`."), false);
            assert!(found.iter().all(|(kind, _)| *kind != EffectKind::Sends), "{command}: {found:?}");
        }
    }

    #[test]
    fn words_are_no_commands() {
        for text in
            ["Make tea.", "`tea`", "```\nfind the pot\n```".replace("find", "see").as_str(), "# at home", "a `b` c `d`"]
        {
            assert_eq!(found(text, false), [], "{text}");
        }
    }

    #[test]
    fn calls_and_secrets_are_found_in_scripts() {
        let kinds: Vec<EffectKind> = found("import os\nos.system('x')\nrequests.post(u)\nopen('~/.ssh/id_rsa')", false)
            .into_iter()
            .map(|(kind, _)| kind)
            .collect();
        for kind in [EffectKind::Runs, EffectKind::Sends, EffectKind::Secret] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
    }

    #[test]
    fn files_are_found_outside_of_addresses() {
        let text = "Append it to memory/MEMORY.md, ~/.bashrc and .env, see https://x.example/a.md.";
        let addresses = super::super::addresses::recipients(text);
        let names: Vec<String> = paths(text, &addresses).into_iter().map(|(_, path)| path).collect();
        assert_eq!(names, ["memory/MEMORY.md", "~/.bashrc", ".env"]);
    }
}
