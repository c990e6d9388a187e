//! The process that reads documents drops its rights before it reads.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::program::program;

/// Promise (files/isolation): The process that reads a document loses access to files and the
/// network before it reads a byte.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn a_document_is_read_behind_a_filter_of_system_calls() {
    let mut child = program();
    child.args(["read-document", "html"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    // The process waits for the document and has not received a byte of it.
    let status = format!("/proc/{}/status", child.id());
    let begun = Instant::now();
    loop {
        let said = std::fs::read_to_string(&status).unwrap();
        if said.contains("Seccomp:\t2") && said.contains("NoNewPrivs:\t1") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not confined: {said}");
        std::thread::yield_now();
    }
    child.stdin.take().unwrap().write_all(b"<p>Good morning</p>").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(String::from_utf8(ended.stdout).unwrap().contains("Good morning"));
}
