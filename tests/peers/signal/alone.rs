//! A network namespace with nothing but loopback, and a test that runs in it.
//!
//! The test starts its own program again with `unshare`, naming itself; the second run finds a
//! variable set and does the work. So the daemon, our adapter and our program are all inside, and
//! TCP, HTTP and the Unix socket are reached alike.

use std::io::Write;
use std::process::{Command, Stdio};

/// Set within the namespace.
const INSIDE: &str = "COMPLINE_TEST_IS_ALONE";
/// Brings loopback up and becomes the test.
const ENTER: &str = "ip link set lo up && exec \"$0\" \"$@\"";

/// Does the work of the test of that name where nothing can leave this computer.
pub fn run(test: &str, work: impl Future<Output = ()>) {
    if std::env::var_os(INSIDE).is_some() {
        assert_eq!(others(), Vec::<String>::new(), "something can leave this computer");
        let _ = rustls::crypto::ring::default_provider().install_default();
        return tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap()
            .block_on(work);
    }
    let Some(flags) = way_in() else {
        assert!(std::env::var_os("CI").is_none(), "a build server has to make a network of its own (unshare, ip)");
        // Written past the test harness, which swallows what a test that passes prints.
        let line = format!("\nleft out: {test}, because no network of its own can be made here\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return;
    };
    let mut inside = Command::new("unshare");
    inside.args(flags).args(["sh", "-c", ENTER]).arg(std::env::current_exe().unwrap());
    let output =
        inside.args([test, "--exact", "--nocapture"]).env(INSIDE, "yes").stdin(Stdio::null()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// How a namespace can be made here: by a user namespace or as root.
fn way_in() -> Option<&'static [&'static str]> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return None;
    }
    let works = |flags: &&&[&str]| {
        let tried = Command::new("unshare").args(**flags).args(["sh", "-c", "ip link set lo up"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    };
    [&["-rn"][..], &["-n"][..]].iter().find(works).copied()
}

/// The network interfaces that lead somewhere else.
fn others() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/dev").unwrap();
    let names = table.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim().to_owned());
    names.filter(|name| name != "lo").collect()
}
