//! The first stage for proposals of reflections.
//!
//! The origin of a reflection consists of its action, its row and its turn in the journal. If these
//! do not belong together, nothing is known about it, and it counts as tainted. Its label is the
//! join of the three, which includes everything that it was given and looked up.

use super::{TaintVerdict, judge_label, read_in, tainted};
use crate::id::{ActionId, PersonId, TurnId};
use crate::store::Db;
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
    judge_label(db, label, row.scope, Some(person), note.map(|_| says::FROM_A_NOTE))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixture, judged, text, typed};
    use super::*;
    use crate::review::proposal::ProposalOrigin;
    use crate::store::{
        ActionKind, ActionState, Clearance, MessageKind, NewAction, NewMessage, NewReflection, NewSlot, NewStep,
        SlotState, StepKind, TextKind, Tx,
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
                report: None,
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
}
