//! What the adapters promise the gateway, against servers that misbehave on demand.

mod signal;
mod telegram;
mod webhook;

#[test]
fn every_saved_line_of_a_terminal_is_understood_or_refused() {
    use compline::adapter::Adapter;
    let clock = std::sync::Arc::new(compline::time::SystemClock::default());
    let terminal = compline::adapter::terminal::Terminal::new(clock);
    let mut understood = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/terminal")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        understood += usize::from(terminal.parse(&String::from_utf8_lossy(&bytes)).is_ok());
    }
    assert_eq!(understood, 1, "only the one with more fields than we know says something");
}

#[test]
fn every_saved_bad_configuration_is_refused_with_a_fix() {
    let home = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/config")).unwrap() {
        let path = entry.unwrap().path();
        let error = compline::config::load(compline::config::Home::at(home.path()), &path, &Default::default());
        let words = error.err().unwrap_or_else(|| panic!("{} was accepted", path.display())).to_string();
        assert!(words.contains("fix:"), "{}: {words}", path.display());
        refused += 1;
    }
    assert!(refused >= 8, "the corpus is missing");
}
