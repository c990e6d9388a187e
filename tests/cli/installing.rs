//! What an installed program brings along: the manual, completions and the changelog.

use super::program::{Ended, Home, program};

/// Promise (command-line/manual): The program brings its manual, its changelog, and completions for
/// your shell.
#[test]
fn the_manual_the_completions_and_the_changelog_are_in_the_program() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&format!("completions {shell}")).done().contains("reflections"), "{shell}");
    }
    home.run("completions ksh").refused(2, &["bash", "fish", "zsh"]);
    assert!(home.run("manual").done().contains(".TH compline 1"));
    let pages = home.file("pages");
    home.run(&format!("manual --dir {}", pages.display())).done();
    for page in ["compline.1", "compline-run.1", "compline-people-pair.1"] {
        assert!(pages.join(page).exists(), "{page}");
    }
    let newest = home.run("changelog").done();
    assert!(newest.contains("Unreleased") && !newest.contains("The format follows"), "{newest}");
    assert!(home.run("changelog --all").done().contains("The format follows"));
}

/// Proves: command-line/manual
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let ended = Ended::of(program().args(["manual", "--dir"]).arg(file.join("below")).output().unwrap());
    ended.refused(1, &["Cannot write the manual to"]);
}
