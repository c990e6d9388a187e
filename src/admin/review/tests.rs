//! Proposals from an owner's side: display, valid decisions, and invalid ones.

use std::time::Duration;

use super::super::Caller;
use super::super::tests::english;
use super::super::tests::fixture::{Fixture, keys, skill};
use super::*;
use crate::admin::command::find;
use crate::id::StreamId;
use crate::people::{Person, Role};
use crate::wording::command::DIRECT_ONLY;

/// The first digits of a hash.
fn first(hash: &str, digits: usize) -> &str {
    hash.get(..digits).unwrap()
}

fn usage(name: &str) -> String {
    find(&format!("/{name}")).unwrap().0.usage(Language::ENGLISH)
}

async fn ask(fixture: &Fixture, line: &str) -> Answer {
    fixture.admin.chat(&fixture.ada(), line).await
}

#[tokio::test]
async fn a_proposal_is_listed_shown_and_made_live() {
    let fixture = Fixture::new().await;
    assert_eq!(ask(&fixture, "/pending").await.markdown, english(says::NOTHING_WAITS));
    let (id, hash) = fixture.proposes("tea", "Boil water.").await;
    fixture.clock.set(fixture.now().plus(Duration::from_secs(2 * 3600)));

    let pending = ask(&fixture, "/pending").await;
    for part in [
        &*format!("**{id}** add the skill tea"),
        "had a part in it (something brought in from elsewhere)",
        "2 hours old",
    ] {
        assert!(pending.markdown.contains(part), "{part:?} is missing in {}", pending.markdown);
    }
    assert!(!pending.markdown.contains(first(&hash, 8)), "a list gives no hash: {}", pending.markdown);
    assert!(!pending.label.is_trusted(), "it shows a name that somebody else chose");

    let shown = ask(&fixture, &format!("/show {id}")).await;
    let end = format!("\n\nHash: `{hash}`");
    assert!(shown.markdown.contains("+Boil water.") && shown.markdown.ends_with(&end), "{}", shown.markdown);
    assert!(!shown.markdown.contains('/'), "the buttons carry the commands: {}", shown.markdown);
    assert!(!shown.label.is_trusted());
    let titles: Vec<&str> = shown.buttons.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["Approve", "Reject", "Where from?"]);

    assert!(fixture.reads("skills/tea/SKILL.md").is_none(), "nothing is written before it is approved");
    let done = ask(&fixture, &shown.buttons[0].1).await;
    assert!(!done.failed && done.markdown.contains("tea is live"), "{}", done.markdown);
    assert_eq!(fixture.reads("skills/tea/SKILL.md"), Some(skill("tea", "Boil water.")));
    assert_eq!(ask(&fixture, "/pending").await.markdown, english(says::NOTHING_WAITS));
    let after = ask(&fixture, &format!("/show {id}")).await;
    assert!(after.buttons.is_empty() && after.markdown.contains("was approved"), "{}", after.markdown);
    assert!(!after.markdown.contains(&hash), "what is decided needs no hash");
}

#[tokio::test]
async fn only_the_right_hash_counts_and_only_once() {
    let fixture = Fixture::new().await;
    let (id, hash) = fixture.proposes("tea", "Boil water.").await;
    let missing = ask(&fixture, &format!("/approve {id}")).await;
    assert_eq!(missing.markdown, says::hash_missing(id, Surface::Chat(Language::ENGLISH)));
    let wrong: String = hash.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect();
    for (typed, sentence) in [
        (first(&hash, 7), says::hash_too_short(id, Surface::Chat(Language::ENGLISH))),
        (&wrong, says::wrong_hash(id, Surface::Chat(Language::ENGLISH))),
        (&*format!("{}{}", first(&hash, 8), first(&wrong, 8)), says::wrong_hash(id, Surface::Chat(Language::ENGLISH))),
    ] {
        let refused = ask(&fixture, &format!("/approve {id} {typed}")).await;
        assert_eq!((refused.failed, refused.markdown), (true, sentence), "{typed}");
    }
    assert!(fixture.reads("skills/tea/SKILL.md").is_none());
    assert!(!ask(&fixture, &format!("/approve {id} {}", first(&hash, 8).to_uppercase())).await.failed);
    let twice = ask(&fixture, &format!("/approve {id} {hash}")).await;
    assert_eq!((twice.failed, twice.markdown), (true, says::over(id, "approved")));
    let late_no = ask(&fixture, &format!("/reject {id}")).await;
    assert_eq!((late_no.failed, late_no.markdown), (true, says::over(id, "approved")));
}

/// Proves: gate/own-command
#[tokio::test]
async fn neither_a_member_nor_a_group_is_answered() {
    let fixture = Fixture::new().await;
    let (id, hash) = fixture.proposes("tea", "Boil water.").await;
    let in_group = Caller { group: Some(StreamId(1)), ..fixture.ada() };
    assert_eq!(fixture.admin.chat(&fixture.ben(), "/pending").await.markdown, english(says::NOTHING_WAITS));
    let refused = fixture.admin.chat(&in_group, "/pending").await;
    assert_eq!(refused.markdown, english(DIRECT_ONLY));
    for line in [
        format!("/show {id}"),
        format!("/approve {id} {hash}"),
        format!("/reject {id}"),
        "/skills".to_owned(),
        "/history tea".to_owned(),
        "/rollback tea 1".to_owned(),
    ] {
        assert_eq!(fixture.admin.chat(&fixture.ben(), &line).await.markdown, english(OWNER_ONLY), "{line}");
        let refused = fixture.admin.chat(&in_group, &line).await;
        assert_eq!(refused.markdown, english(DIRECT_ONLY), "{line}");
    }
    let why = format!("/why {id}");
    assert_eq!(fixture.admin.chat(&fixture.ben(), &why).await.markdown, english(OWNER_ONLY));
    assert_eq!(fixture.admin.chat(&in_group, &why).await.markdown, english(DIRECT_ONLY));
    assert!(fixture.reads("skills/tea/SKILL.md").is_none());
    // An owner when the line was typed, but no longer.
    let posing = Caller { person: Person { role: Role::Owner, ..fixture.ben().person }, ..fixture.ben() };
    assert_eq!(fixture.admin.chat(&posing, &format!("/approve {id} {hash}")).await.markdown, english(OWNER_ONLY));
    assert_eq!(fixture.admin.chat(&posing, &format!("/reject {id}")).await.markdown, english(OWNER_ONLY));
    assert!(!ask(&fixture, &format!("/approve {id} {hash}")).await.failed, "all that changed nothing");
}

#[tokio::test]
async fn a_proposal_that_waited_too_long_is_void() {
    let fixture = Fixture::new().await;
    let (id, hash) = fixture.proposes("tea", "Boil water.").await;
    fixture.clock.set(fixture.now().plus(Duration::from_secs(14 * 86_400)));
    assert_ne!(ask(&fixture, "/pending").await.markdown, english(says::NOTHING_WAITS), "nobody was told yet");
    fixture.tampers("UPDATE proposals SET told = 1");
    assert_eq!(ask(&fixture, "/pending").await.markdown, english(says::NOTHING_WAITS));
    let shown = ask(&fixture, &format!("/show {id}")).await;
    assert!(shown.buttons.is_empty() && shown.markdown.contains("expired"), "{}", shown.markdown);
    assert_eq!(shown.json["state"], "expired");
    let late = ask(&fixture, &format!("/approve {id} {hash}")).await;
    assert_eq!((late.failed, late.markdown), (true, says::expired(id)));
    assert!(fixture.reads("skills/tea/SKILL.md").is_none());
}

#[tokio::test]
async fn tampered_rows_cannot_be_approved() {
    for statement in [
        "UPDATE skill_files SET bytes = CAST(replace(CAST(bytes AS TEXT), 'water', 'vodka') AS BLOB)",
        "UPDATE proposals SET rationale = 'harmless'",
        "UPDATE proposals SET skill = 'coffee'",
        "UPDATE proposals SET label = '0'",
    ] {
        let fixture = Fixture::new().await;
        let (id, hash) = fixture.proposes("tea", "Boil water.").await;
        fixture.tampers(statement);
        let shown = fixture.admin.chat(&fixture.ada(), &format!("/show {id}")).await;
        assert!(shown.buttons.is_empty() && shown.markdown.contains(TAMPERED), "{statement}: {}", shown.markdown);
        let refused = ask(&fixture, &format!("/approve {id} {hash}")).await;
        assert_eq!((refused.failed, refused.markdown.as_str()), (true, TAMPERED), "{statement}");
        assert!(fixture.reads("skills/tea/SKILL.md").is_none() && fixture.reads("skills/coffee/SKILL.md").is_none());
        assert!(!ask(&fixture, &format!("/reject {id}")).await.failed, "it can be refused");
    }
}

#[tokio::test]
async fn a_rejected_proposal_stays_rejected() {
    let fixture = Fixture::new().await;
    let (id, hash) = fixture.proposes("tea", "Boil water.").await;
    let refused = ask(&fixture, &format!("/reject {id} not *like* this")).await;
    assert_eq!((refused.failed, refused.markdown), (false, says::rejected(id)));
    assert_eq!(ask(&fixture, &format!("/approve {id} {hash}")).await.markdown, says::over(id, "rejected"));
    let shown = ask(&fixture, &format!("/show {id}")).await;
    assert_eq!((&shown.json["state"], &shown.json["reason"]), (&json!("rejected"), &json!("not *like* this")));
}

#[tokio::test]
async fn an_edit_made_meanwhile_stays() {
    let fixture = Fixture::new().await;
    let (id, hash) = fixture.proposes("tea", "Boil water.").await;
    let mine = skill("tea", "Ask me first.");
    fixture.writes("skills/tea/SKILL.md", &mine);
    let conflict = ask(&fixture, &format!("/approve {id} {hash}")).await;
    assert_eq!((conflict.failed, conflict.markdown), (true, says::conflict(id)));
    assert_eq!(fixture.reads("skills/tea/SKILL.md"), Some(mine));
    assert_eq!(ask(&fixture, &format!("/approve {id} {hash}")).await.markdown, says::over(id, "conflict"));
}

#[tokio::test]
async fn the_origin_of_a_proposal_is_shown_under_its_label() {
    let fixture = Fixture::new().await;
    let (id, _) = fixture.proposes("tea", "Boil water.").await;
    let why = ask(&fixture, &format!("/why {id}")).await;
    assert!(why.markdown.contains("You imported it") && !why.failed, "{}", why.markdown);
    let label = fixture.admin.review.proposal(id).await.unwrap().unwrap().row.label;
    assert_eq!(why.label, label);
    assert_eq!(why.json["sources"], json!(["import"]));
}

#[tokio::test]
async fn numbers_that_mean_nothing_get_one_helpful_line() {
    let fixture = Fixture::new().await;
    for (line, sentence) in [
        ("/show", usage("show")),
        ("/show tea", usage("show")),
        ("/approve", usage("approve")),
        ("/reject all", usage("reject")),
        ("/history", usage("history")),
        ("/rollback tea", usage("rollback")),
        ("/show 7", says::no_such_proposal(ProposalId(7), Surface::Chat(Language::ENGLISH))),
        ("/approve 7 0123456789abcdef", says::no_such_proposal(ProposalId(7), Surface::Chat(Language::ENGLISH))),
        ("/reject 7 no", says::no_such_proposal(ProposalId(7), Surface::Chat(Language::ENGLISH))),
        ("/why 7", says::no_such_proposal(ProposalId(7), Surface::Chat(Language::ENGLISH))),
    ] {
        let answer = ask(&fixture, line).await;
        assert_eq!((answer.failed, answer.markdown), (true, sentence), "{line}");
    }
}

#[tokio::test]
async fn the_command_line_has_the_promised_fields() {
    let fixture = Fixture::new().await;
    let (id, _) = fixture.proposes("tea", "Boil water.").await;
    let promised = ["id", "skill", "change", "state", "tainted", "sources", "hash", "created_at", "from"];
    let list = fixture
        .rendering(&fixture.admin.skills_and_proposals().proposals(PageRequest::newest(100)).await.unwrap())
        .json;
    let row =
        json!({ "id": id, "skill": "tea", "change": "create", "state": "pending", "tainted": true, "from": "import" });
    for (field, value) in row.as_object().unwrap() {
        assert_eq!(&list[0][field], value, "{field}");
    }
    let whole =
        fixture.rendering(&fixture.admin.skills_and_proposals().proposal(id, Surface::CommandLine).await.unwrap());
    assert!(whole.markdown.contains("compline review approve"), "{}", whole.markdown);
    for field in promised {
        assert_eq!(whole.json[field], list[0][field], "{field}");
        assert!(keys(&whole.json).contains(&field), "{field}");
    }
    assert!(whole.json["diff"].as_str().unwrap().contains("+Boil water."));
    assert_eq!(whole.json["stages"][0]["stage"], "taint");
    assert_eq!(whole.json["findings"], json!([]));
    let digest = whole.json["hash"].as_str().unwrap().to_owned();
    assert!(
        !fixture
            .admin
            .skills_and_proposals()
            .approve(id, &digest, "", DecisionSource::CommandLine)
            .await
            .unwrap()
            .failed
    );
    assert_eq!(
        fixture
            .rendering(&fixture.admin.skills_and_proposals().proposals(PageRequest::newest(100)).await.unwrap())
            .json[0]["state"],
        "approved"
    );
    let status = fixture.admin.chat(&fixture.ada(), "/status").await;
    assert_eq!(status.json["proposals"], json!({ "pending": 0 }));
}
