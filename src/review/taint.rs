//! First stage: the origin of the text.
//!
//! The origin is read from the journal rather than taken from the caller. A turn that does not
//! exist, or belongs to another conversation or person, counts as tainted; the label is the join of
//! the caller's and the journal's. Only what an owner's own request made of trusted text is clean.
//! The form of the text decides nothing: what a person pastes is judged by its label, and what the
//! change newly does by [`effects`](super::effects).

mod reflection;

use super::proposal::ProposalOrigin;
use crate::id::PersonId;
use crate::store::{Clearance, Db, MessageKind, TextKind, TurnRow};
use crate::trust::{Label, Scope, Source};
use crate::wording::skill as says;

/// The verdict of the stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaintVerdict {
    pub clearance: Clearance,
    pub label: Label,
    pub scope: Scope,
    /// The reason why it is not clean; blank if it is.
    pub note: String,
}

/// Judges the origin of a draft.
pub(super) fn judge(db: Db<'_>, origin: &ProposalOrigin) -> anyhow::Result<TaintVerdict> {
    match origin {
        ProposalOrigin::Turn { turn, conversation, person, label } => {
            let row = db.turns().turn(*turn)?.filter(|row| row.conversation == *conversation && row.person == *person);
            match row {
                Some(row) => judge_turn(db, &row, label),
                None => Ok(tainted(label.join_with(&Label::untrusted(Source::unknown())), Scope::Shared)),
            }
        }
        ProposalOrigin::Reflection { action, turn, person, note } => {
            reflection::judge(db, *action, *turn, *person, note.as_ref())
        }
        ProposalOrigin::Note { label, .. } if label.is_trusted() => {
            Ok(careful(label, Scope::Shared, says::FROM_A_NOTE))
        }
        ProposalOrigin::Note { label, .. } => Ok(tainted(label.clone(), Scope::Shared)),
        ProposalOrigin::Import(import) => {
            let source = import.map_or_else(|| Source::new("import", ""), Source::import);
            Ok(tainted(Label::untrusted(source), Scope::Shared))
        }
        ProposalOrigin::Folder => Ok(tainted(Label::untrusted(Source::new("folder", "")), Scope::Shared)),
        ProposalOrigin::Shipped => Ok(careful(&super::label::of_the_program(), Scope::Shared, says::SHIPPED)),
    }
}

fn judge_turn(db: Db<'_>, row: &TurnRow, claimed: &Label) -> anyhow::Result<TaintVerdict> {
    let (label, is_request) = read_in(db, row)?;
    let label = label.join_with(claimed);
    let missing = (!is_request).then_some(says::NOTHING_TYPED);
    judge_label(db, label, row.scope, row.person, missing)
}

/// Judges a proposal by the label of everything that it was made from, and by its person. `careful`
/// is a further reason why the owner decides, even if both are clean.
fn judge_label(
    db: Db<'_>,
    label: Label,
    scope: Scope,
    person: Option<PersonId>,
    careful: Option<&str>,
) -> anyhow::Result<TaintVerdict> {
    if !label.is_trusted_here() {
        return Ok(tainted(label, scope));
    }
    let why = if label.is_of_third_party() {
        Some(says::FROM_A_SKILL.to_owned())
    } else if label.asks_before_leaving() {
        Some(says::vouched_for(&label))
    } else if !person.map_or(Ok(false), |person| db.people().is_owner(person))? {
        Some(says::NOT_THE_OWNERS.to_owned())
    } else {
        careful.map(str::to_owned)
    };
    Ok(match why {
        Some(why) => self::careful(&label, scope, &why),
        None => TaintVerdict { clearance: Clearance::Clean, label, scope, note: String::new() },
    })
}

/// Returns the join of everything that a turn read (its own label includes those of its steps), and
/// whether a person asked for it in words of their own: requests by the program are not a person's
/// words, even if an owner asked for them, and a quote alone is no request.
fn read_in(db: Db<'_>, row: &TurnRow) -> anyhow::Result<(Label, bool)> {
    let (mut label, mut is_request) = (row.label.clone(), false);
    for message in db.messages().messages_of_turn(row.id)? {
        for text in db.messages().texts_of(message.id)? {
            label.absorb(text.text.label());
            is_request |= message.kind == MessageKind::Said && text.kind != TextKind::Quote;
        }
    }
    Ok((label, is_request))
}

fn tainted(label: Label, scope: Scope) -> TaintVerdict {
    let note = says::tainted(&label);
    TaintVerdict { clearance: Clearance::Tainted, label, scope, note }
}

fn careful(label: &Label, scope: Scope, why: &str) -> TaintVerdict {
    TaintVerdict { clearance: Clearance::Careful, label: label.clone(), scope, note: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::id::{AddressId, ConversationId, MessageId, TurnId, VersionId};
    use crate::people::Address;
    use crate::people::Role;
    use crate::store::{
        BoundaryReason, ConversationKind, Journal, NewConversation, NewMessage, NewStep, NewTurn, StepKind, Tx,
    };
    use crate::time::Timestamp;
    use crate::trust::{Labelled, Text};

    /// Ada is an owner, Ben a member; each has a conversation with one turn, in which they typed a
    /// request.
    pub(super) struct Fixture {
        pub(super) journal: Journal,
        pub(super) ada: SkillLocation,
        pub(super) ben: SkillLocation,
        _home: tempfile::TempDir,
    }

    #[derive(Clone, Copy)]
    pub(super) struct SkillLocation {
        pub(super) person: PersonId,
        pub(super) conversation: ConversationId,
        pub(super) turn: TurnId,
    }

    pub(super) fn text(words: &str, label: Label, person: PersonId) -> Text {
        Labelled::new(words.into(), label, Scope::Person(person))
    }

    fn begin(tx: Tx<'_>, name: &str, role: Role, said: &[(TextKind, &str, Label)]) -> anyhow::Result<SkillLocation> {
        let person = tx.people().allow(name, role, "config", Timestamp(1))?.id;
        let scope = Scope::Person(person);
        let address = tx.addresses().link(&Address::new("telegram", "bot", name), Some(person), Timestamp(1))?;
        let stream = tx.conversations().stream_for(person)?;
        let conversation = tx.conversations().open_conversation(&NewConversation {
            stream,
            kind: ConversationKind::Chat,
            scope,
            because: BoundaryReason::First,
            at: Timestamp(1),
        })?;
        let message = add_message(tx, stream, conversation, address, person)?;
        for (kind, words, label) in said {
            tx.messages().add_text(message, *kind, &text(words, label.clone(), person))?;
        }
        let turn = tx.turns().begin_turn(&NewTurn {
            stream,
            conversation,
            person: Some(person),
            address,
            scope,
            at: Timestamp(1),
            context: &text("", Label::neutral(), person),
            recalled: &text("", Label::neutral(), person),
            label: &Label::neutral(),
        })?;
        tx.messages().claim(turn, &[message])?;
        Ok(SkillLocation { person, conversation, turn })
    }

    fn add_message(
        tx: Tx<'_>,
        stream: crate::id::StreamId,
        conversation: ConversationId,
        address: AddressId,
        person: PersonId,
    ) -> anyhow::Result<MessageId> {
        tx.messages().add_message(&NewMessage {
            stream,
            conversation: Some(conversation),
            inbox: None,
            address: Some(address),
            person: Some(person),
            guest: None,
            kind: MessageKind::Said,
            scope: Scope::Person(person),
            external_id: "",
            album: "",
            received_at: Timestamp(1),
            server_at: None,
            effective_at: Timestamp(1),
            turn: None,
        })
    }

    async fn fixture(ada_said: Vec<(TextKind, &'static str, Label)>) -> Fixture {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&home.path().join("j.db"), None).unwrap();
        let places = journal.write("begin", move |tx| {
            let request = [(TextKind::Said, "remember how I like my tea", Label::neutral())];
            Ok((begin(tx, "Ada", Role::Owner, &ada_said)?, begin(tx, "Ben", Role::Member, &request)?))
        });
        let (ada, ben) = places.await.unwrap();
        Fixture { journal, ada, ben, _home: home }
    }

    pub(super) async fn typed(words: &'static str) -> Fixture {
        fixture(vec![(TextKind::Said, words, Label::neutral())]).await
    }

    fn origin(place: SkillLocation) -> ProposalOrigin {
        let SkillLocation { person, conversation, turn } = place;
        ProposalOrigin::Turn { turn, conversation, person: Some(person), label: Label::neutral() }
    }

    pub(super) async fn judged(fixture: &Fixture, origin: ProposalOrigin) -> TaintVerdict {
        fixture.journal.read(move |db| judge(db, &origin)).await.unwrap()
    }

    #[tokio::test]
    async fn the_owners_own_request_is_clean_and_a_members_is_not() {
        let fixture = typed("remember how I like my tea").await;
        let (own, bens) = (judged(&fixture, origin(fixture.ada)).await, judged(&fixture, origin(fixture.ben)).await);
        assert_eq!(
            (own.clearance, own.note.as_str(), own.scope),
            (Clearance::Clean, "", Scope::Person(fixture.ada.person))
        );
        assert_eq!((bens.clearance, bens.note.as_str()), (Clearance::Careful, says::NOT_THE_OWNERS));
    }

    #[tokio::test]
    async fn a_missing_or_foreign_turn_taints_the_proposal_despite_its_claims() {
        let fixture = typed("remember how I like my tea").await;
        let (ada, ben) = (fixture.ada, fixture.ben);
        let nobody = ProposalOrigin::Turn {
            turn: ada.turn,
            conversation: ada.conversation,
            person: None,
            label: Label::neutral(),
        };
        for forged in [
            origin(SkillLocation { turn: TurnId(99), ..ada }),
            origin(SkillLocation { turn: TurnId(0), ..ada }),
            origin(SkillLocation { turn: TurnId(-1), ..ada }),
            origin(SkillLocation { conversation: ConversationId(99), ..ada }),
            origin(SkillLocation { conversation: ben.conversation, ..ada }),
            origin(SkillLocation { person: ben.person, ..ada }),
            origin(SkillLocation { person: ada.person, ..ben }),
            origin(SkillLocation { turn: ada.turn, ..ben }),
            nobody,
        ] {
            let judged = judged(&fixture, forged.clone()).await;
            assert_eq!(
                (judged.clearance, judged.label.encode().as_str()),
                (Clearance::Tainted, "unknown"),
                "{forged:?}"
            );
        }
    }

    #[tokio::test]
    async fn the_journal_and_the_caller_can_only_make_it_worse() {
        let fixture = typed("remember how I like my tea").await;
        let ada = fixture.ada;
        let claimed = Label::untrusted(Source::web("evil.example"));
        let tainted = ProposalOrigin::Turn {
            turn: ada.turn,
            conversation: ada.conversation,
            person: Some(ada.person),
            label: claimed,
        };
        assert_eq!(judged(&fixture, tainted).await.clearance, Clearance::Tainted, "what the caller knows counts");
        let read = move |tx: Tx<'_>| {
            let label = Label::untrusted(Source::web("evil.example"));
            let (scope, at) = (Scope::Person(ada.person), Timestamp(1));
            let step = NewStep {
                turn: ada.turn,
                seq: 0,
                kind: StepKind::Tool,
                tool: "web_fetch",
                call: "{}",
                label: &Label::neutral(),
                scope,
                at,
            };
            let step = tx.turns().begin_step(&step)?;
            tx.turns().finish_step(step, &text("a page", label, ada.person), None, "", at)
        };
        fixture.journal.write("read a page", read).await.unwrap();
        let judged = judged(&fixture, origin(ada)).await;
        assert_eq!(
            (judged.clearance, judged.label.encode().as_str()),
            (Clearance::Tainted, "web:evil.example"),
            "so does each step"
        );
    }

    #[tokio::test]
    async fn text_from_outside_in_the_turn_taints_though_its_row_says_nothing() {
        for kind in [TextKind::Said, TextKind::Quote, TextKind::File, TextKind::Transcript] {
            let letter = (kind, "a letter", Label::untrusted(Source::forward()));
            let fixture = fixture(vec![(TextKind::Said, "make it a skill", Label::neutral()), letter]).await;
            assert_eq!(judged(&fixture, origin(fixture.ada)).await.clearance, Clearance::Tainted, "{kind:?}");
        }
    }

    #[tokio::test]
    async fn the_form_of_typed_text_decides_nothing() {
        let long: &'static str = "word ".repeat(2_000).leak();
        for words in ["this:\n```\ncurl\n```", "this: ~~~x~~~", "he says\n> do it", "so:\n    do it", long] {
            assert_eq!(judged_alone(typed(words).await).await.clearance, Clearance::Clean, "{words:?}");
        }
        let (request, quote) = ((TextKind::Said, "make it a skill"), (TextKind::Quote, "my own words"));
        let with = |texts: &[(TextKind, &'static str)]| {
            fixture(texts.iter().map(|(kind, words)| (*kind, *words, Label::neutral())).collect())
        };
        assert_eq!(judged_alone(with(&[request, quote]).await).await.clearance, Clearance::Clean);
        for without_a_request in [with(&[]).await, with(&[quote]).await] {
            let judged = judged_alone(without_a_request).await;
            assert_eq!((judged.clearance, judged.note.as_str()), (Clearance::Careful, says::NOTHING_TYPED));
        }
    }

    #[tokio::test]
    async fn an_accepted_skill_and_a_vouched_source_are_named_apart() {
        let page = Source::web("evil.example");
        let vouched = Label::untrusted(page.clone()).vouched_for(&BTreeSet::from([page]));
        let named = says::vouched_for(&vouched);
        for (label, why) in [(Label::approved(VersionId(1)), says::FROM_A_SKILL), (vouched, &*named)] {
            let judged = judged_alone(fixture(vec![(TextKind::Said, "make it a skill", label)]).await).await;
            assert_eq!((judged.clearance, judged.note.as_str()), (Clearance::Careful, why));
        }
    }

    async fn judged_alone(fixture: Fixture) -> TaintVerdict {
        judged(&fixture, origin(fixture.ada)).await
    }

    #[tokio::test]
    async fn a_proposal_without_a_turn_is_never_clean() {
        let fixture = typed("hello").await;
        let note = |label: Label| ProposalOrigin::Note { label, file: None };
        for (origin, clearance) in [
            (ProposalOrigin::Import(None), Clearance::Tainted),
            (ProposalOrigin::Folder, Clearance::Tainted),
            (ProposalOrigin::Shipped, Clearance::Careful),
            (note(Label::neutral()), Clearance::Careful),
            (note(Label::untrusted(Source::web("evil.example"))), Clearance::Tainted),
        ] {
            assert_eq!(judged(&fixture, origin.clone()).await.clearance, clearance, "{origin:?}");
        }
    }
}
