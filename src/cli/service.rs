//! `compline service …`: the gateway as a service of this computer or of one user.
//!
//! On Linux systemd runs it, on macOS launchd. As root the service is the computer's: it runs as a
//! user of its own, whose home is [`SYSTEM_HOME`], and every other command that root gives without
//! `--home` acts on that home as that user ([`become_service_user`]).

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::Exit;
use super::config::{CliPaths, SYSTEM_HOME};
use super::print::{CliError, Printer};
use crate::wording::cli::service as says;

/// User.
const SYSTEM_USER: &str = "compline";
/// The unit of the computer's service, as packages install it.
const SYSTEM_UNIT: &str = include_str!("../../config/compline.service");
/// Program there.
const PACKAGED_PROGRAM: &str = "/usr/bin/compline";
const PACKAGED_UNIT: &str = "/usr/lib/systemd/system/compline.service";
const USER_UNIT: &str = include_str!("../../config/compline.user.service");
const LAUNCHD_AGENT: &str = include_str!("../../config/compline.plist");

/// `compline service …`
#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Start the gateway now and whenever this computer starts
    Install(SystemOrUser),
    /// Stop the service and remove it; the data stays
    Uninstall(SystemOrUser),
    /// Show whether the service runs
    Status(SystemOrUser),
}

/// Service of the computer or of a user.
#[derive(Debug, Clone, Copy, Args)]
pub struct SystemOrUser {
    /// A service of the whole computer [default for root]
    #[arg(long)]
    system: bool,
    /// A service of this user [default otherwise]
    #[arg(long, conflicts_with = "system")]
    user: bool,
}

/// Runs the command.
pub fn run(
    command: &ServiceCommand,
    paths: impl Fn() -> Result<CliPaths, CliError>,
    printer: Printer,
) -> Result<Exit, CliError> {
    let paths = &paths;
    match command {
        ServiceCommand::Install(of) => install(&of.service(paths)?, paths, printer),
        ServiceCommand::Uninstall(of) => uninstall(&of.service(paths)?, printer),
        ServiceCommand::Status(of) => status(&of.service(paths)?),
    }
}

/// As root, continues as the user to whom the service's home belongs, if there is one. A gateway
/// that runs as root, or files of root in that home, would be of no use.
pub fn become_service_user() -> Result<(), CliError> {
    let Some(home) = std::fs::metadata(SYSTEM_HOME).ok().filter(|home| is_root() && home.uid() != 0) else {
        return Ok(());
    };
    let program = std::env::current_exe()?;
    let error = Command::new(&program)
        .args(std::env::args_os().skip(1))
        .envs([("COMPLINE_HOME", SYSTEM_HOME), ("HOME", SYSTEM_HOME)])
        .uid(home.uid())
        .gid(home.gid())
        .exec();
    Err(anyhow::Error::from(error).context(format!("Cannot start {}", program.display())).into())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    SystemdOfComputer,
    SystemdOfUser,
    Launchd,
}

/// The service and the file that describes it.
struct Service {
    manager: Manager,
    unit: PathBuf,
    home: PathBuf,
}

impl SystemOrUser {
    fn service(self, paths: impl Fn() -> Result<CliPaths, CliError>) -> Result<Service, CliError> {
        let manager = match self.system || (is_root() && !self.user) {
            _ if cfg!(target_os = "macos") => Manager::Launchd,
            true => Manager::SystemdOfComputer,
            false => Manager::SystemdOfUser,
        };
        let in_home = |name: &str| std::env::var_os("HOME").map(|home| Path::new(&home).join(name));
        let config = || std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| in_home(".config"));
        let unit = match manager {
            Manager::SystemdOfComputer => Some(PathBuf::from("/etc/systemd/system/compline.service")),
            Manager::SystemdOfUser => config().map(|config| config.join("systemd/user/compline.service")),
            Manager::Launchd => in_home("Library/LaunchAgents/compline.plist"),
        };
        let unit = unit.ok_or_else(|| CliError::Wrong(says::NO_USER.to_owned()))?;
        let home = match manager {
            Manager::SystemdOfComputer => PathBuf::from(SYSTEM_HOME),
            _ => paths()?.home.path().to_owned(),
        };
        Ok(Service { manager, unit, home })
    }
}

fn install(
    service: &Service,
    paths: impl Fn() -> Result<CliPaths, CliError>,
    printer: Printer,
) -> Result<Exit, CliError> {
    let program = std::env::current_exe()?.canonicalize()?;
    if service.manager == Manager::SystemdOfComputer {
        if Path::new(PACKAGED_UNIT).exists() {
            printer.note(&says::from_package(Path::new(PACKAGED_UNIT)));
            return Ok(Exit::Done);
        }
        if program.starts_with("/home") || program.starts_with("/root") {
            return Err(CliError::Wrong(says::out_of_reach(&program)));
        }
        if let Some(part) = replaceable_part(&program)? {
            return Err(CliError::Wrong(says::replaceable(&program, part)));
        }
        create_user()?;
    } else {
        paths()?.load()?;
    }
    let text = service.text(&program);
    let folder = service.unit.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&service.unit, text))
        .with_context(|| format!("Cannot write {}", service.unit.display()))?;
    if service.manager == Manager::SystemdOfComputer && !service.home.join("compline.toml").exists() {
        service.manage(&["daemon-reload"])?;
        service.manage(&["enable", "compline"])?;
        printer.note(&says::installed_without_settings(&service.unit));
        return Ok(Exit::Done);
    }
    service.start()?;
    printer.note(&says::installed(&service.unit));
    // A user's services run without a login only if that was allowed.
    if service.manager == Manager::SystemdOfUser && run_program("loginctl", &["enable-linger"]).is_err() {
        printer.note(says::NO_LINGER);
    }
    Ok(Exit::Done)
}

/// Returns the first of a program and the folders above it that somebody but root could replace or
/// change.
fn replaceable_part(program: &Path) -> std::io::Result<Option<&Path>> {
    for part in program.ancestors() {
        let of = std::fs::metadata(part)?;
        if of.uid() != 0 || of.mode() & 0o022 != 0 {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

fn uninstall(service: &Service, printer: Printer) -> Result<Exit, CliError> {
    if !service.unit.exists() {
        return Err(CliError::Failed(says::NOT_INSTALLED.to_owned()));
    }
    service.stop()?;
    std::fs::remove_file(&service.unit).with_context(|| format!("Cannot remove {}", service.unit.display()))?;
    if service.manager != Manager::Launchd {
        service.manage(&["daemon-reload"])?;
    }
    printer.note(&says::removed(&service.unit, &service.home));
    Ok(Exit::Done)
}

/// Shows what the service manager says.
fn status(service: &Service) -> Result<Exit, CliError> {
    let packaged = service.manager == Manager::SystemdOfComputer && Path::new(PACKAGED_UNIT).exists();
    if !service.unit.exists() && !packaged {
        return Err(CliError::Failed(says::NOT_INSTALLED.to_owned()));
    }
    let (program, arguments) = match service.manager {
        Manager::SystemdOfComputer => ("systemctl", &["status", "--no-pager", "compline"][..]),
        Manager::SystemdOfUser => ("systemctl", &["--user", "status", "--no-pager", "compline"][..]),
        Manager::Launchd => ("launchctl", &["list", "compline"][..]),
    };
    let ended = Command::new(program).args(arguments).status();
    let ended = ended.map_err(|_| CliError::Failed(says::no_manager(program)))?;
    Ok(if ended.success() { Exit::Done } else { Exit::Failed })
}

impl Service {
    /// Returns the file that describes the service.
    fn text(&self, program: &Path) -> String {
        let (program, home) = (program.to_string_lossy(), self.home.to_string_lossy());
        match self.manager {
            Manager::SystemdOfComputer => SYSTEM_UNIT.replace(PACKAGED_PROGRAM, &of_systemd(&program)),
            Manager::SystemdOfUser => {
                USER_UNIT.replace("@PROGRAM@", &of_systemd(&program)).replace("@HOME@", &of_systemd(&home))
            }
            Manager::Launchd => LAUNCHD_AGENT.replace("@PROGRAM@", &of_xml(&program)).replace("@HOME@", &of_xml(&home)),
        }
    }

    fn start(&self) -> Result<(), CliError> {
        match self.manager {
            Manager::Launchd => run_program("launchctl", &["load", "-w", &self.unit.to_string_lossy()]),
            _ => {
                self.manage(&["daemon-reload"])?;
                self.manage(&["enable", "compline"])?;
                self.manage(&["restart", "compline"])
            }
        }
    }

    fn stop(&self) -> Result<(), CliError> {
        match self.manager {
            Manager::Launchd => run_program("launchctl", &["unload", "-w", &self.unit.to_string_lossy()]),
            _ => self.manage(&["disable", "--now", "compline"]),
        }
    }

    /// Gives systemd a command.
    fn manage(&self, command: &[&str]) -> Result<(), CliError> {
        match self.manager {
            Manager::SystemdOfUser => run_program("systemctl", &[&["--user"], command].concat()),
            _ => run_program("systemctl", command),
        }
    }
}

/// Creates the service's user and home.
fn create_user() -> Result<(), CliError> {
    if run_program("id", &[SYSTEM_USER]).is_err() {
        let like = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"];
        run_program("useradd", &[&like[..], &["--home-dir", SYSTEM_HOME, SYSTEM_USER]].concat())?;
    }
    let created = DirBuilder::new().recursive(true).mode(0o700).create(SYSTEM_HOME);
    created.with_context(|| format!("Cannot make {SYSTEM_HOME}"))?;
    run_program("chown", &["compline:compline", SYSTEM_HOME])
}

fn run_program(program: &str, arguments: &[&str]) -> Result<(), CliError> {
    let ended = Command::new(program).args(arguments).output();
    let ended = ended.map_err(|_| CliError::Failed(says::no_manager(program)))?;
    if ended.status.success() {
        return Ok(());
    }
    let line = format!("{program} {}", arguments.join(" "));
    Err(CliError::Failed(says::refused(&line, String::from_utf8_lossy(&ended.stderr).trim())))
}

/// Quotes a word of a systemd unit (`systemd.service(5)`, `systemd.unit(5)`).
fn of_systemd(word: &str) -> String {
    let escaped = word.replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

fn of_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(manager: Manager) -> String {
        let service = Service { manager, unit: PathBuf::from("unit"), home: PathBuf::from("/srv/a b/100%") };
        service.text(Path::new("/opt/compline & co"))
    }

    #[test]
    fn a_file_names_the_program_and_the_home() {
        let system = text(Manager::SystemdOfComputer);
        assert!(system.contains("\nExecStart=\"/opt/compline & co\" run\n"), "{system}");
        assert!(system.contains("\nExecReload=\"/opt/compline & co\" reload\n"), "{system}");
        let user = text(Manager::SystemdOfUser);
        assert!(user.contains("\nExecStart=\"/opt/compline & co\" --home \"/srv/a b/100%%\" run\n"), "{user}");
        let agent = text(Manager::Launchd);
        assert!(agent.contains("<string>/opt/compline &amp; co</string>"), "{agent}");
        assert!(agent.contains("<string>/srv/a b/100%</string>"), "{agent}");
    }

    #[test]
    fn a_program_that_others_could_replace_is_seen() {
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        assert_eq!(replaceable_part(&shell).unwrap(), None);
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().canonicalize().unwrap().join("compline");
        std::fs::write(&program, "").unwrap();
        // The folder of temporary files is everybody's.
        let found = replaceable_part(&program).unwrap().map(Path::to_owned);
        assert!(found.is_some_and(|part| program.starts_with(part)), "{}", program.display());
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(replaceable_part(&program).unwrap(), Some(program.as_path()));
        assert!(replaceable_part(Path::new("/nowhere/compline")).is_err());
    }
}
