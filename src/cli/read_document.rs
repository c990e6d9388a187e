//! `read-document`: the gateway starts this program once more for every received document. People
//! do not type this command.
//!
//! The bytes come on standard input and the text goes to standard output, page by page. Before it
//! reads a byte, the process limits itself: memory and time, no file of any size, no new open
//! files. It knows no home and no configuration, and reads no environment.
//!
//! It also confines itself, so that a parser that a document has compromised can only use the pipes
//! that it was given. On Linux, Landlock denies all access to files and TCP ports, and a seccomp
//! filter allows only the calls for reading from one pipe, computing, and writing to another; any
//! other system call fails with EPERM. Both last until the process ends. They are as strict as the
//! kernel allows: one without Landlock (before 5.13) or without seccomp continues without it, and
//! the filter exists on x86-64 and arm64. Other systems have neither; there the resource limits are
//! the only protection.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::Exit;
use super::print::CliError;
use crate::engine::files::document::{Unread, read};
use crate::engine::files::reader::{Document, MAX_WORDS};

/// Memory limit in bytes.
const MAX_MEMORY: u64 = 512 << 20;
/// Processor time limit in seconds.
const MAX_CPU_SECONDS: u64 = 30;
/// Maximum size of a document: more than is ever received.
const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;
/// Maximum number of open files: standard input, output and error.
const MAX_OPEN_FILES: u64 = 3;
/// Separator between pages.
const PAGE_SEPARATOR: &[u8] = b"\n\n";

/// Reads the document on standard input.
///
/// # Errors
///
/// If the limits cannot be set, or there is no input.
pub fn run(kind: &str) -> Result<Exit, CliError> {
    // The panic message of a failing parser may quote the document, and is discarded.
    std::panic::set_hook(Box::new(|_| {}));
    let Some(kind) = Document::parse(kind) else { return Ok(Exit::Wrong) };
    deny_files();
    limit_itself()?;
    deny_calls();
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_DOCUMENT).read_to_end(&mut bytes)?;
    let mut written = 0;
    let read = read(kind, &bytes, |words| {
        written += words.len() + PAGE_SEPARATOR.len();
        write_reply(words).is_ok() && written <= MAX_WORDS
    });
    Ok(match read {
        Ok(()) => Exit::Done,
        Err(Unread::Locked) => Exit::Locked,
        Err(Unread::Broken) => Exit::Failed,
    })
}

fn write_reply(words: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(words.as_bytes())?;
    out.write_all(PAGE_SEPARATOR)?;
    out.flush()
}

/// Sets the limits. None is loosened: a lower existing limit stays.
fn limit_itself() -> Result<(), CliError> {
    for (resource, most) in [
        (Resource::As, MAX_MEMORY),
        (Resource::Cpu, MAX_CPU_SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nofile, MAX_OPEN_FILES),
    ] {
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |now| now.min(most));
        let set = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        // macOS has no limit on the total memory of a process.
        if resource != Resource::As || cfg!(target_os = "linux") {
            set.map_err(io::Error::from)?;
        }
    }
    Ok(())
}

/// Denies access to files and ports. It opens a descriptor temporarily, so it must be called before
/// the limit on descriptors is set.
pub fn deny_files() {
    #[cfg(target_os = "linux")]
    match linux::deny_files() {
        Ok(status) => tracing::debug!("Landlock: {status:?}"),
        Err(error) => tracing::debug!("No Landlock: {error}"),
    }
}

/// Denies every system call except those for reading and computing. No further files can be opened
/// after this call.
pub fn deny_calls() {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if let Err(error) = calls::deny() {
        tracing::debug!("No seccomp filter: {error}");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, RulesetStatus,
        Scope,
    };

    /// Newest rules to request; an older kernel applies those that it knows.
    const RULES: ABI = ABI::V6;

    /// Applies a rule set that handles everything and allows nothing.
    pub(super) fn deny_files() -> Result<RulesetStatus, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(RULES))?
            .handle_access(AccessNet::from_all(RULES))?
            .scope(Scope::from_all(RULES))?
            .create()?
            .restrict_self()
            .map(|status| status.ruleset)
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls {
    use libc::EPERM;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// System calls for open files, memory, time, randomness, the process's own signals, and exit.
    /// No threads.
    const ALLOWED: [i64; 29] = [
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_ppoll,
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    pub(super) fn deny() -> anyhow::Result<()> {
        let rules = ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
        let denied = SeccompAction::Errno(EPERM.unsigned_abs());
        let arch = std::env::consts::ARCH.try_into()?;
        let filter: BpfProgram = SeccompFilter::new(rules, denied, SeccompAction::Allow, arch)?.try_into()?;
        Ok(apply_filter(&filter)?)
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set for the process that a test starts from itself, because confinement cannot be undone.
    const WHICH: &str = "COMPLINE_TEST_CONFINED";

    /// Attempts denied actions in a confined thread. Returns one word per attempt.
    fn attempts() -> String {
        let denied = |failed: std::io::Result<()>| match failed {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => "denied",
            Err(_) => "failed",
            Ok(()) => "done",
        };
        let open = std::fs::File::open("/etc/passwd").map(drop);
        let list = std::fs::read_dir("/").map(drop);
        let write = std::fs::write(std::env::temp_dir().join("confined"), "x");
        let connect = std::net::TcpStream::connect("127.0.0.1:9").map(drop);
        let start = Command::new("/bin/true").status().map(drop);
        [open, list, write, connect, start].map(denied).join(" ")
    }

    fn confined(which: &str) -> String {
        let name = "cli::read_document::tests::a_confined_process";
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(WHICH, which)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let word = said.split("attempts: ").nth(1).unwrap_or_else(|| panic!("{said} {output:?}"));
        word.lines().next().unwrap_or_default().to_owned()
    }

    /// Does nothing unless another test starts it.
    #[test]
    fn a_confined_process() {
        match std::env::var(WHICH).as_deref() {
            Ok("files") => {
                if linux::deny_files().is_ok_and(|status| status == landlock::RulesetStatus::NotEnforced) {
                    println!("attempts: none, because this kernel has no Landlock");
                    return;
                }
            }
            Ok("calls") => deny_calls(),
            Ok("free") => {}
            _ => return,
        }
        println!("attempts: {}", attempts());
    }

    #[test]
    fn a_filter_denies_files_connections_and_programs() {
        assert_eq!(confined("free"), "done done done failed done", "nobody listens there");
        assert_eq!(confined("calls"), "denied denied denied denied denied");
    }

    #[test]
    fn landlock_denies_files_where_the_kernel_has_it() {
        let said = confined("files");
        assert!(said.starts_with("none") || said.starts_with("denied denied denied"), "{said}");
    }
}
