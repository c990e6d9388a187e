//! Skills and their gate on the command line: checking a folder, importing, showing, approving by
//! hash, reverting.

use serde_json::Value;

use super::program::Home;

fn skill(name: &str, words: &str) -> String {
    format!("---\nname: {name}\ndescription: How to make {name}. Use when somebody wants some.\n---\n\n{words}\n")
}

/// Creates a folder with a `SKILL.md` next to the home.
fn with_folder(home: &Home, folder: &str, text: &str) -> String {
    let folder = home.path().parent().unwrap().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn check_needs_neither_home_nor_gateway() {
    let home = Home::new();
    let good = with_folder(&home, "good/tea", &skill("tea", "Boil water."));
    let checked = home.run(&format!("skills check {good}"));
    assert!(checked.out.contains("ok      tea") && checked.out.contains("nothing is wrong"), "{checked:?}");
    assert_eq!(checked.code, 0);
    home.run(&format!("skills check {good}/SKILL.md")).done();
    let all = good.strip_suffix("/tea").unwrap();
    assert_eq!(home.run(&format!("skills check {all} --json")).json()[0]["ok"], true);

    let bad = with_folder(&home, "bad/soup", &skill("Soup!", "See [more](more.md)."));
    with_folder(&home, "bad/stew", "---\nname: stew\n");
    let checked = home.run(&format!("skills check {}", bad.strip_suffix("/soup").unwrap()));
    assert_eq!(checked.code, 1, "{checked:?}");
    for part in ["WRONG   soup", "line 2", "Soup!", "more.md", "WRONG   stew", "2 skills checked"] {
        assert!(checked.out.contains(part), "{part:?} is missing in {}", checked.out);
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "it leaves nothing behind");
    home.run("skills check /nowhere/at/all").refused(1, &["/nowhere/at/all", "fix:"]);
    home.run(&format!("skills check {}", home.path().display())).refused(1, &["no skill in", "fix:"]);
}

/// Promise (gate/imported): A skill imported from elsewhere or made from a note waits for your
/// approval like any other.
#[test]
fn a_skill_from_elsewhere_is_shown_and_approved_by_its_hash() {
    let home = Home::plain();
    let folder = with_folder(&home, "download/tea", &skill("tea", "Boil water."));
    let mut command = home.command("skills import tea");
    let ended = super::program::Ended::of(
        command.current_dir(home.path().parent().unwrap().join("download")).output().unwrap(),
    );
    assert!(ended.out.contains("Proposal 1 would add the skill tea"), "{ended:?}");
    assert!(ended.out.contains("compline review show 1"), "{ended:?}");
    assert!(!home.file("skills/tea").exists());

    let list = home.run("review list --json").json();
    for field in ["id", "skill", "change", "state", "tainted", "sources", "hash", "created_at", "from"] {
        assert!(list[0].get(field).is_some(), "{field} is missing in {list}");
    }
    let row = (&list[0]["state"], &list[0]["tainted"], &list[0]["from"]);
    assert_eq!(row, (&"pending".into(), &true.into(), &"import".into()));
    let status = home.run("status --json").json();
    assert_eq!(status["proposals"]["pending"], 1);
    let doctor = home.run("doctor").done();
    assert!(doctor.contains("1 proposal waits") && doctor.contains("compline review list"), "{doctor}");

    let shown = home.run("review show 1").done();
    assert!(shown.contains("+Boil water."), "{shown}");
    let hash = shown.split("Hash: ").nth(1).unwrap().split_whitespace().next().unwrap().trim_matches('`').to_owned();
    let json = home.run("review show 1 --json").json();
    for field in ["diff", "findings", "stages"] {
        assert!(json.get(field).is_some(), "{field} is missing in {json}");
    }
    assert!(json["hash"].as_str().unwrap().starts_with(&hash) && hash.len() == 16, "{hash}");
    assert!(shown.contains(&format!("compline review approve 1 {hash}")) && !shown.contains("/approve"), "{shown}");

    home.run("review approve 1 0123456789abcdef").refused(1, &["not the hash of proposal 1"]);
    home.run("review approve 7 0123456789abcdef").refused(1, &["no proposal 7", "compline review list"]);
    assert!(!home.file("skills/tea").exists());
    let done = home.run(&format!("review approve 1 {hash}")).done();
    assert!(done.contains("tea is live"), "{done}");
    assert_eq!(std::fs::read_to_string(home.file("skills/tea/SKILL.md")).unwrap(), skill("tea", "Boil water."));
    let skills = home.run("skills list --json").json();
    let tea = named(&skills, "tea");
    for (field, value) in [("origin", "proposal"), ("state", "live")] {
        assert_eq!(tea[field], value, "{skills}");
    }
    assert!(tea["version"].is_number() && tea["description"].is_string(), "{skills}");
    home.run("skills import").refused(2, &["PATH"]);
    home.run(&format!("skills import {folder}")).refused(1, &["has exactly this content already"]);
}

/// Proves: skills/new-folder
#[test]
fn a_folder_that_is_copied_in_is_accepted_by_its_hash() {
    let home = Home::plain();
    home.run("status").done();
    std::fs::create_dir_all(home.file("skills/tea")).unwrap();
    std::fs::write(home.file("skills/tea/SKILL.md"), skill("tea", "See https://tea.example/x.")).unwrap();
    assert_eq!(named(&home.run("skills list --json").json(), "tea")["state"], "held");
    let shown = home.run("skills accept tea").done();
    for part in ["See https://tea.example/x.", "tea.example", "Hash: "] {
        assert!(shown.contains(part), "{part:?} is missing in {shown}");
    }
    home.run("skills accept soup").refused(1, &["no skill soup"]);
    let hash = home.run("skills accept tea --json").json()["hash"].as_str().unwrap().to_owned();
    home.run(&format!("skills accept tea {hash}")).refused(1, &["newly sends", &format!("approve 1 {hash} sends")]);
    std::fs::write(home.file("skills/tea/SKILL.md"), skill("tea", "Something else.")).unwrap();
    home.run(&format!("skills accept tea {hash}")).refused(1, &["not the hash"]);
    let hash = home.run("skills accept tea --json").json()["hash"].as_str().unwrap().to_owned();
    home.run(&format!("skills accept tea {hash}")).done();
    assert_eq!(named(&home.run("skills list --json").json(), "tea")["state"], "live");
    home.run("skills check").done();
}

/// Proves: skills/new-folder
#[test]
fn at_a_terminal_a_held_skill_is_shown_and_accepted_by_a_yes_alone() {
    let home = Home::plain();
    home.run("status").done();
    std::fs::create_dir_all(home.file("skills/tea")).unwrap();
    std::fs::write(home.file("skills/tea/SKILL.md"), skill("tea", "Boil water.")).unwrap();
    let state = || named(&home.run("skills list --json").json(), "tea")["state"].clone();
    for typed in ["n\n", "\n", "yess\n", "n\ny\n", "\u{4}"] {
        let ended = home.typed("skills accept tea", typed);
        ended.refused(1, &["Accept the skill tea exactly as shown? [y/N]", "Nothing was changed"]);
        assert!(ended.out.contains("Boil water."), "{typed:?}: {ended:?}");
        assert_eq!(state(), "held", "{typed:?}");
    }
    let none = home.typed("skills accept soup", "y\n");
    none.refused(1, &["no skill soup"]);
    assert!(!none.err.contains("[y/N]"), "{none:?}");
    let ended = home.typed("skills accept tea", " YES \n");
    assert!(ended.code == 0 && ended.out.contains("Boil water."), "{ended:?}");
    assert_eq!(state(), "live");
}

/// A skill in a list of skills, by name.
fn named(skills: &Value, name: &str) -> Value {
    skills.as_array().unwrap().iter().find(|skill| skill["name"] == name).unwrap().clone()
}

/// Proves: skills/versions
#[test]
fn a_skill_is_led_back_and_a_no_is_kept() {
    let home = Home::plain();
    let folder = with_folder(&home, "download/tea", &skill("tea", "Boil wine."));
    home.run("status").done();
    std::fs::create_dir_all(home.file("skills/tea")).unwrap();
    std::fs::write(home.file("skills/tea/SKILL.md"), skill("tea", "Boil water.")).unwrap();
    let hash = home.run("skills accept tea --json").json()["hash"].as_str().unwrap().to_owned();
    home.run(&format!("skills accept tea {hash}")).done();
    let version = named(&home.run("skills list --json").json(), "tea")["version"].clone();
    home.run(&format!("skills import {folder}")).done();
    home.run("review reject 2 --reason wine").done();
    assert_eq!(home.run("review show 2 --json").json()["reason"], "wine");
    home.run(&format!("skills import {folder}")).refused(1, &["proposed before", "wine"]);

    std::fs::write(home.file("skills/tea/SKILL.md"), skill("tea", "Boil milk.")).unwrap();
    assert_eq!(home.run("skills history tea --json").json()[0]["present"], true);
    home.run(&format!("skills rollback tea {version}")).done();
    assert_eq!(std::fs::read_to_string(home.file("skills/tea/SKILL.md")).unwrap(), skill("tea", "Boil water."));
    home.run("skills rollback tea 999").refused(1, &["no version 999"]);
    assert!(home.run("skills show tea").done().contains("Boil water."));
}

/// Proves: gate/imported
#[test]
fn a_note_becomes_a_proposal() {
    let home = Home::plain();
    home.run("status").done();
    std::fs::write(home.file("workspace/memory/tea.md"), "# Tea\n\nUse water at 80 degrees. Then wait.\n").unwrap();
    let told = home.run("skills promote memory/tea.md").done();
    assert!(told.contains("Proposal 1 would add the skill tea"), "{told}");
    let shown = home.run("review show 1 --json").json();
    assert_eq!((&shown["from"], &shown["tainted"]), (&"note".into(), &false.into()));
    assert!(shown["diff"].as_str().unwrap().contains("+description: \"Use water at 80 degrees.\""), "{shown}");
    home.run("skills promote compline.toml").refused(1, &["compline.toml cannot be used", "memory/tea.md"]);
}

/// Proves: skills/open-format
#[test]
fn doctor_and_check_tell_what_is_not_used() {
    let home = Home::plain();
    home.run("status").done();
    std::fs::create_dir_all(home.file("skills/stew")).unwrap();
    std::fs::write(home.file("skills/stew/SKILL.md"), "---\nname: stew\n").unwrap();
    let found = home.run("doctor");
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.out.contains("stew is not used") && found.out.contains("compline skills check"), "{}", found.out);
    let checked = home.run("skills check");
    assert_eq!(checked.code, 1);
    assert!(checked.out.contains("WRONG   stew"), "{}", checked.out);
    let listed = home.run("skills list").done();
    assert!(listed.contains("stew (does not load"), "{listed}");
    std::fs::remove_dir_all(home.file("skills/stew")).unwrap();
    home.run("doctor").done();
    home.run("skills check").done();
}

#[test]
fn the_running_gateway_is_asked_in_its_own_words() {
    let home = Home::plain();
    let folder = with_folder(&home, "download/tea", &skill("tea", "Boil water."));
    let gateway = home.gateway();
    let told = home.run(&format!("skills import {folder}"));
    assert!(told.out.contains("Proposal 1") && !told.err.contains("not running"), "{told:?}");
    let hash = home.run("review show 1 --json").json()["hash"].as_str().unwrap().to_owned();
    home.run(&format!("review approve 1 {hash}")).done();
    home.run(&format!("review approve 1 {hash}")).refused(1, &["was approved already"]);
    assert!(home.file("skills/tea/SKILL.md").exists());
    gateway.stop();
}
