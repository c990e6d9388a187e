//! The first stage for proposals of reflections.
//!
//! The origin of a reflection consists of its action, its row and its turn in the journal. If these
//! do not belong together, nothing is known about it, and it counts as tainted. The prompt of a
//! reflection is not typed by a person, so pastes are looked for in its evidence: in the messages
//! that it was given, and in those given to the reflections that it was made from.

use std::collections::BTreeSet;

use super::{Clearance, TaintVerdict, careful, may_be_pasted, read_in, tainted};
use crate::id::{ActionId, MessageId, PersonId, TurnId};
use crate::store::{CauseKind, Db, MessageKind, Node, ReflectionRow};
use crate::trust::{Label, Scope, Source};
use crate::wording::skill as says;

/// Judges an action of a reflection. `note` is the label of the text that it takes from a note.
pub(super) fn judge(
    db: Db<'_>,
    action: ActionId,
    turn: TurnId,
    person: PersonId,
    note: Option<&(Label, Option<i64>)>,
) -> anyhow::Result<TaintVerdict> {
    let row =
        db.turns().turn(turn)?.filter(|row| row.person == Some(person) && row.scope.equals(Scope::Person(person)));
    let action = db.reflections().action(action)?;
    let reflection =
        action.as_ref().map(|action| db.reflections().reflection(action.reflection)).transpose()?.flatten();
    let (Some(row), Some(action), Some(reflection)) = (row, action, reflection.filter(|known| known.turn == turn))
    else {
        return Ok(tainted(Label::untrusted(Source::unknown()), Scope::Shared));
    };
    let (mut label, _) = read_in(db, &row)?;
    let of_note = note.map(|(label, _)| label);
    for also in [&action.label, &reflection.label].into_iter().chain(of_note) {
        label.absorb(also);
    }
    Ok(if !label.is_trusted() {
        tainted(label, row.scope)
    } else if label.asks_before_leaving() {
        careful(&label, row.scope, says::FROM_A_SKILL)
    } else if !db.people().is_owner(person)? {
        careful(&label, row.scope, says::NOT_THE_OWNERS)
    } else if note.is_some() {
        careful(&label, row.scope, says::FROM_A_NOTE)
    } else if pasted_among(db, reflection)? {
        careful(&label, row.scope, says::PASTED_AMONG)
    } else {
        TaintVerdict { clearance: Clearance::Clean, label, scope: row.scope, note: String::new() }
    })
}

/// Returns whether any of its evidence may be a paste. The sources of assistant answers in that
/// evidence are not examined: an answer is the assistant's own words.
fn pasted_among(db: Db<'_>, reflection: ReflectionRow) -> anyhow::Result<bool> {
    let mut seen = BTreeSet::new();
    let mut open = vec![reflection];
    while let Some(reflection) = open.pop() {
        if !seen.insert(reflection.id) {
            continue;
        }
        let shown = shown_to(db, &reflection)?;
        for message in shown.said {
            let texts = db.messages().texts_of(message)?;
            // The shape of deleted text is no longer known.
            if texts.is_empty() || texts.iter().any(may_be_pasted) {
                return Ok(true);
            }
        }
        open.extend(shown.earlier);
    }
    Ok(false)
}

/// The material given to a reflection, and the material that it looked up itself.
#[derive(Default)]
struct ReflectionEvidence {
    said: Vec<MessageId>,
    earlier: Vec<ReflectionRow>,
}

fn shown_to(db: Db<'_>, reflection: &ReflectionRow) -> anyhow::Result<ReflectionEvidence> {
    let mut shown = ReflectionEvidence::default();
    let Some(turn) = db.turns().turn(reflection.turn)? else { return Ok(shown) };
    for turn in db.turns().past_turns(turn.conversation)? {
        for found in db.derivations().parents(Node::Turn(turn.id))? {
            shown.takes(db, found, None)?;
        }
        for asked in db.messages().messages_of_turn(turn.id)? {
            for put_before in db.derivations().parents(Node::Message(asked.id))? {
                shown.takes(db, put_before, Some(reflection))?;
            }
        }
    }
    Ok(shown)
}

impl ReflectionEvidence {
    /// Adds a source to the evidence. Of the previous reflection of the same kind only the outcomes
    /// of its actions are given to the next one, one line each, so its sources no longer count.
    /// `than` is the reflection that received the input; `None` for material that was looked up,
    /// which is read whole.
    fn takes(&mut self, db: Db<'_>, node: Node, than: Option<&ReflectionRow>) -> anyhow::Result<()> {
        let id = match node {
            Node::Message(id) => id,
            Node::Summary(id) => {
                let Some(summary) = db.summaries().summary(id)? else { return Ok(()) };
                let messages = db.messages().messages_of(summary.conversation)?.into_iter();
                self.said.extend(messages.filter(|one| one.kind == MessageKind::Said).map(|one| one.id));
                return Ok(());
            }
            _ => return Ok(()),
        };
        match db.messages().message(id)?.map(|message| message.kind) {
            Some(MessageKind::Said) => self.said.push(id),
            // Its words are a person's, or were taken from them.
            Some(MessageKind::Sent) => {
                let sent = db.sent().sent(id)?;
                self.said.extend(sent.filter(|sent| sent.cause.kind == CauseKind::Reminder).map(|sent| sent.message));
            }
            Some(MessageKind::Reflection) => {
                let shorter = |earlier: &ReflectionRow| than.is_none_or(|than| length(earlier) < length(than));
                self.earlier.extend(db.reflections().reflection_in(id)?.filter(shorter));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the length of the period that it covers, in milliseconds.
fn length(reflection: &ReflectionRow) -> i64 {
    reflection.to.0.saturating_sub(reflection.from.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixture, judged, text, typed};
    use super::*;
    use crate::review::proposal::ProposalOrigin;
    use crate::store::{
        ActionKind, ActionState, NewAction, NewMessage, NewReflection, NewSlot, NewStep, SlotState, StepKind, TextKind,
        TurnState, Tx,
    };
    use crate::time::Timestamp;

    /// Creates a reflection of Ada's with one action. The turn in which she typed doubles as the
    /// reflection's turn.
    async fn reflection_fixture(fixture: &Fixture, label: Label) -> ActionId {
        let (ada, at) = (fixture.ada, Timestamp(2));
        let scope = Scope::Person(ada.person);
        let job = move |tx: Tx<'_>| {
            let slot = tx.slots().claim_slot(&NewSlot {
                job: "daily",
                scope,
                period: "2026-11-20",
                from: Timestamp(0),
                to: Timestamp(1),
                due_at: at,
                state: SlotState::Claimed,
                reason: "",
                again: false,
                at,
            })?;
            let turn = tx.turns().turn(ada.turn)?.unwrap();
            let message = tx.messages().add_message(&NewMessage {
                stream: turn.stream,
                conversation: Some(ada.conversation),
                inbox: None,
                address: None,
                person: None,
                guest: None,
                kind: MessageKind::Reflection,
                scope,
                external_id: "",
                album: "",
                received_at: at,
                server_at: None,
                effective_at: at,
                turn: Some(ada.turn),
            })?;
            tx.messages().add_text(message, TextKind::Said, &text("A day", label.clone(), ada.person))?;
            let new = NewReflection {
                slot: slot.unwrap(),
                turn: ada.turn,
                message,
                title: "A day",
                label: &label,
                scope,
                at,
            };
            let reflection = tx.reflections().store_reflection(&new)?;
            tx.reflections().add_action(&NewAction {
                reflection,
                seq: 0,
                kind: ActionKind::CreateSkill,
                title: "Tea",
                payload: "{}",
                state: ActionState::New,
                reason: "",
                label: &label,
                scope,
                at,
            })
        };
        fixture.journal.write("look back", job).await.unwrap()
    }

    fn origin(action: ActionId, turn: TurnId, person: PersonId) -> ProposalOrigin {
        ProposalOrigin::Reflection { action, turn, person, note: None }
    }

    #[tokio::test]
    async fn an_owners_reflection_on_trusted_text_is_clean() {
        let fixture = typed("remember how I like my tea").await;
        let action = reflection_fixture(&fixture, Label::neutral()).await;
        let judged = judged(&fixture, origin(action, fixture.ada.turn, fixture.ada.person)).await;
        assert_eq!((judged.clearance, judged.scope), (Clearance::Clean, Scope::Person(fixture.ada.person)));
    }

    #[tokio::test]
    async fn a_reflection_proposal_with_mismatched_ids_is_tainted() {
        let fixture = typed("remember how I like my tea").await;
        let action = reflection_fixture(&fixture, Label::neutral()).await;
        let (ada, ben) = (fixture.ada, fixture.ben);
        for forged in [
            origin(ActionId(99), ada.turn, ada.person),
            origin(action, TurnId(99), ada.person),
            origin(action, ben.turn, ben.person),
            origin(action, ben.turn, ada.person),
            origin(action, ada.turn, ben.person),
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
    async fn a_mark_anywhere_counts() {
        let page = || Label::untrusted(Source::web("evil.example"));
        let fixture = typed("hello").await;
        let action = reflection_fixture(&fixture, page()).await;
        let of_row = judged(&fixture, origin(action, fixture.ada.turn, fixture.ada.person)).await;
        let fixture = typed("hello").await;
        let action = reflection_fixture(&fixture, Label::neutral()).await;
        let note = Some((page(), None));
        let of_note = judged(
            &fixture,
            ProposalOrigin::Reflection { action, turn: fixture.ada.turn, person: fixture.ada.person, note },
        )
        .await;
        let (ada, words) = (fixture.ada, text("a page", page(), fixture.ada.person));
        let read = move |tx: Tx<'_>| {
            let (scope, at) = (Scope::Person(ada.person), Timestamp(3));
            let label = Label::neutral();
            let step = NewStep {
                turn: ada.turn,
                seq: 0,
                kind: StepKind::Tool,
                tool: "x",
                call: "{}",
                label: &label,
                scope,
                at,
            };
            let step = tx.turns().begin_step(&step)?;
            tx.turns().finish_step(step, &words, None, "", at)
        };
        fixture.journal.write("read a page", read).await.unwrap();
        let of_step = judged(&fixture, origin(action, ada.turn, ada.person)).await;
        for judged in [of_row, of_note, of_step] {
            assert_eq!((judged.clearance, judged.label.encode().as_str()), (Clearance::Tainted, "web:evil.example"));
        }
    }

    #[tokio::test]
    async fn a_paste_among_what_was_looked_at_waits_and_so_does_what_was_forgotten() {
        for (words, clearance) in
            [("short", Clearance::Clean), ("so:\n```\nx\n```", Clearance::Careful), ("", Clearance::Careful)]
        {
            let fixture = typed("look back").await;
            let action = reflection_fixture(&fixture, Label::neutral()).await;
            let ada = fixture.ada;
            let saw = move |tx: Tx<'_>| {
                let turn = tx.turns().turn(ada.turn)?.unwrap();
                let message = tx.messages().add_message(&NewMessage {
                    stream: turn.stream,
                    conversation: Some(ada.conversation),
                    inbox: None,
                    address: Some(turn.address),
                    person: Some(ada.person),
                    guest: None,
                    kind: MessageKind::Said,
                    scope: turn.scope,
                    external_id: "",
                    album: "",
                    received_at: Timestamp(1),
                    server_at: None,
                    effective_at: Timestamp(1),
                    turn: None,
                })?;
                if !words.is_empty() {
                    tx.messages().add_text(message, TextKind::Said, &text(words, Label::neutral(), ada.person))?;
                }
                let asked = tx.messages().messages_of_turn(ada.turn)?;
                tx.turns().end_turn(ada.turn, TurnState::Done, "", Timestamp(2))?;
                tx.derivations().derive(Node::Message(asked[0].id), Node::Message(message))
            };
            fixture.journal.write("see", saw).await.unwrap();
            let judged = judged(&fixture, origin(action, ada.turn, ada.person)).await;
            assert_eq!(judged.clearance, clearance, "{words:?}");
        }
    }
}
