//! Output of `compline service`.

use std::path::Path;

use super::with_fix;

/// Error: the service's user cannot reach the program.
pub fn out_of_reach(program: &Path) -> String {
    with_fix(
        &format!("A service of the whole computer cannot start {}, which is in somebody's home", program.display()),
        &format!("`sudo install -m 755 '{}' /usr/local/bin/`, then run this again", program.display()),
    )
}

/// Error: somebody but root could replace the program, by changing that part of its path.
pub fn replaceable(program: &Path, part: &Path) -> String {
    with_fix(
        &format!(
            "A service of the whole computer cannot start {}: others than root may change {}, and with it what runs here",
            program.display(),
            part.display()
        ),
        &format!("`sudo install -m 755 '{}' /usr/local/bin/`, then run this again", program.display()),
    )
}

/// Note that the package brings the service.
pub fn from_package(unit: &Path) -> String {
    format!("The package has installed {} already: `sudo systemctl enable --now compline` starts it.", unit.display())
}

/// Result: the service is installed and runs.
pub fn installed(unit: &Path) -> String {
    format!("Compline runs as a service now ({}). `compline service status` shows how it is.", unit.display())
}

/// Result: the service is installed, and has no configuration yet.
pub fn installed_without_settings(unit: &Path) -> String {
    format!("Installed {}. Next: `sudo compline init`, then `sudo systemctl start compline`.", unit.display())
}

/// Note that a user's services end when the user logs out.
pub const NO_LINGER: &str = "It ends when you log out. To keep it: `sudo loginctl enable-linger $USER`.";

/// Result: the service is gone.
pub fn removed(unit: &Path, home: &Path) -> String {
    format!("The service is removed ({}). Your data stays in {}.", unit.display(), home.display())
}

/// Note that no service is installed.
pub const NOT_INSTALLED: &str = "No service is installed.\nfix: `compline service install` installs it";

/// Error: no user is known whose service it would be.
pub const NO_USER: &str = "A service of a user needs that user's directory, and HOME is not set.\n\
    fix: set HOME; or leave --user out as root, for a service of the whole computer";

/// Error: the service manager refused.
pub fn refused(command: &str, why: &str) -> String {
    format!("`{command}` failed: {}", if why.is_empty() { "it did not say why" } else { why })
}

/// Error: the service manager is missing.
pub fn no_manager(program: &str) -> String {
    with_fix(
        &format!("There is no {program} on this computer, so nothing keeps a service running"),
        "start `compline run` by the means of this system, or use the container image",
    )
}
