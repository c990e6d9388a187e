//! Classifies the library's errors. Only their kinds, statuses and headers are used; their printed
//! form may hold the conversation.

use genai::Error;
use genai::webc;

use crate::model::error::{self, Fault};
use crate::model::{ModelError, Request, wire};

/// Classifies an error. `begun` is true if a part of the answer had arrived.
pub(super) fn meaning(error: &Error, begun: bool, key: &str, request: &Request) -> ModelError {
    let classify = |fault: Fault<'_>| fault.classify(key, Some(request));
    match error {
        // While streaming, the real error is one level down.
        Error::WebStream { error, .. } => {
            if let Some(error) = error.downcast_ref::<Error>() {
                return meaning(error, begun, key, request);
            }
            error.downcast_ref::<reqwest::Error>().map_or(ModelError::Cut, wire::lost)
        }
        Error::HttpError { status, body, headers, .. } => {
            classify(Fault { status: status.as_u16(), headers: Some(headers), body })
        }
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                classify(Fault { status: status.as_u16(), headers: Some(headers), body })
            }
            webc::Error::ResponseFailedNotJson { content_type, .. } => error::no_answer(content_type),
            webc::Error::Reqwest(error) => wire::lost(error),
            _ => ModelError::Cut,
        },
        // A piece with neither answer nor error: Gemini declines the question itself this way.
        Error::ChatResponse { body, .. } if body.get("usageMetadata").is_some_and(serde_json::Value::is_null) => {
            if begun {
                ModelError::Cut
            } else {
                ModelError::Refused
            }
        }
        Error::ChatResponse { body, .. } => classify(Fault { status: 200, headers: None, body: &body.to_string() }),
        Error::StreamParse { .. } | Error::JsonValueExt(_) | Error::SerdeJson(_) => ModelError::Cut,
        _ => ModelError::Rejected("this wire cannot carry the request".to_owned()),
    }
}
