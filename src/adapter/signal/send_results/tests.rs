//! Tests of every outcome and every error code.

use serde_json::json;

use super::*;
use crate::adapter::MAX_SERVER_WAIT;

const MINUTE: Duration = Duration::from_secs(60);

fn receipt(results: &[Value]) -> Value {
    json!({"timestamp": 17, "results": results})
}

fn result(kind: &str) -> Value {
    json!({"type": kind, "recipientAddress": {"uuid": format!("u-{kind}"), "number": "+431234567"}})
}

fn with(kind: &str, name: &str, value: Value) -> Value {
    let mut result = result(kind);
    result[name] = value;
    result
}

fn refusal(code: i64, results: &[Value]) -> RpcError {
    RpcError::Rejected(RpcRefusal { code, data: json!({"response": receipt(results)}) })
}

fn person(results: &[Value]) -> Result<SendReceipt, SendFailure> {
    interpret(RecipientKind::Person, Ok(receipt(results)))
}

fn why(result: Result<SendReceipt, SendFailure>) -> (SendError, FailureCause) {
    let SendFailure { error, cause } = result.unwrap_err();
    (error, cause)
}

#[test]
fn a_person_is_reached_or_not() {
    assert_eq!(person(&[result("SUCCESS")]), Ok(SendReceipt { timestamp: 17, missed: vec![], all: 1 }));
    assert_eq!(
        interpret(RecipientKind::Person, Ok(json!({"timestamp": 17}))),
        Ok(SendReceipt { timestamp: 17, missed: vec![], all: 0 })
    );
    let later = SendError::Later("the daemon could not reach Signal".to_owned());
    let blocked = |words: &str| SendError::Blocked(words.to_owned());
    for (kind, error, cause) in [
        ("RATE_LIMIT_FAILURE", SendError::Wait(MINUTE), FailureCause::RateLimit(MINUTE)),
        ("NETWORK_FAILURE", later.clone(), FailureCause::Other),
        ("INVALID_PRE_KEY_FAILURE", later, FailureCause::Other),
        ("IDENTITY_FAILURE", blocked(words::UNTRUSTED_PEER), FailureCause::Identity),
        ("UNREGISTERED_FAILURE", blocked(words::UNREGISTERED), FailureCause::Other),
        ("NEW_FAILURE", SendError::Refused(words::not_delivered("NEW_FAILURE")), FailureCause::Other),
        ("", SendError::Refused(words::not_delivered("")), FailureCause::Other),
    ] {
        assert_eq!(why(person(&[result(kind)])), (error, cause), "{kind}");
    }
    assert!(person(&[result("SUCCESS"), result("UNREGISTERED_FAILURE")]).is_err());
}

#[test]
fn a_group_send_succeeds_if_one_recipient_is_reached() {
    let partly = interpret(RecipientKind::Group, Ok(receipt(&[result("SUCCESS"), result("UNREGISTERED_FAILURE")])));
    let missed = vec![Some("u-UNREGISTERED_FAILURE".to_owned())];
    assert_eq!(partly, Ok(SendReceipt { timestamp: 17, missed, all: 2 }));
    let nobody = interpret(RecipientKind::Group, Ok(receipt(&[result("IDENTITY_FAILURE"), result("NETWORK_FAILURE")])));
    assert!(matches!(why(nobody).0, SendError::Later(_)), "what can be waited for comes first");
    assert_eq!(
        interpret(RecipientKind::Group, Ok(receipt(&[]))),
        Ok(SendReceipt { timestamp: 17, missed: vec![], all: 0 })
    );
}

#[test]
fn signal_says_how_long_to_wait() {
    let limited = |seconds: u64| person(&[with("RATE_LIMIT_FAILURE", "retryAfterSeconds", json!(seconds))]);
    assert_eq!(why(limited(7)).0, SendError::Wait(Duration::from_secs(7)));
    assert_eq!(why(limited(u64::MAX)).0, SendError::Wait(MAX_SERVER_WAIT));
    let proof = why(person(&[with("RATE_LIMIT_FAILURE", "token", json!("a-b"))]));
    assert_eq!(proof, (SendError::Wait(MINUTE), FailureCause::Proof("a-b".to_owned())));
}

#[test]
fn a_code_counts_when_no_outcome_explains_it() {
    for (code, error, cause) in [
        (-5, SendError::Wait(MINUTE), FailureCause::RateLimit(MINUTE)),
        (-4, SendError::Blocked(words::UNTRUSTED_PEER.to_owned()), FailureCause::Identity),
        (-3, SendError::Later("the daemon could not reach Signal".to_owned()), FailureCause::Other),
        (-1, SendError::Refused(words::refused(-1)), FailureCause::Other),
        (-32602, SendError::Later(words::refused(-32602)), FailureCause::Account),
        (-32603, SendError::Refused(words::refused(-32603)), FailureCause::Other),
        (-32601, SendError::Refused(words::refused(-32601)), FailureCause::Other),
    ] {
        assert_eq!(
            why(interpret(RecipientKind::Person, Err(refusal(code, &[])))),
            (error.clone(), cause.clone()),
            "{code}"
        );
        let bare = RpcError::Rejected(RpcRefusal { code, data: Value::Null });
        assert_eq!(why(interpret(RecipientKind::Group, Err(bare))), (error, cause), "{code}");
    }
    let mixed = interpret(RecipientKind::Person, Err(refusal(-1, &[result("UNREGISTERED_FAILURE")])));
    assert_eq!(why(mixed).0, SendError::Blocked(words::UNREGISTERED.to_owned()));
    let limited = refusal(-5, &[with("RATE_LIMIT_FAILURE", "retryAfterSeconds", json!(9))]);
    assert_eq!(why(interpret(RecipientKind::Person, Err(limited))).0, SendError::Wait(Duration::from_secs(9)));
}

#[test]
fn an_unsent_message_is_retried_and_a_lost_response_is_unclear() {
    let person = |failure| why(interpret(RecipientKind::Person, Err(failure))).0;
    assert_eq!(person(RpcError::NotSent("x".to_owned())), SendError::Later("x".to_owned()));
    assert_eq!(person(RpcError::NoResponse("x".to_owned())), SendError::OutcomeUnknown("x".to_owned()));
    assert!(matches!(person(RpcError::TooLong), SendError::OutcomeUnknown(_)));
    for odd in [json!(null), json!({}), json!([]), json!({"results": 7})] {
        assert!(matches!(why(interpret(RecipientKind::Person, Ok(odd))).0, SendError::OutcomeUnknown(_)));
    }
}

#[test]
fn names_from_the_daemon_cannot_inject_sentences() {
    let odd = result("SEE https://evil.example NOW");
    assert_eq!(why(person(&[odd])).0, SendError::Refused(words::not_delivered("SEENOW")));
}
