//! Speech to text, by any server with OpenAI's transcription endpoint.

use std::time::Duration;

use anyhow::Context;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;

use super::{ModelError, error, wire};
use crate::config::Transcription;
use crate::message::file_type;

/// Maximum size of a recording, in bytes: the limit of OpenAI's own endpoint.
const MAX_AUDIO: usize = 25 << 20;

/// Maximum number of bytes read of an answer.
const MAX_TEXT: usize = 1 << 20;

/// Timeout of the request. Long, because a recording is processed as a whole before the first byte
/// comes back.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// Audio tokens for a second of sound, on servers that count those: OpenAI's guide to realtime
/// costs names one token for 100 ms of a person's audio.
const AUDIO_TOKENS_A_SECOND: u64 = 10;

/// Transcript of a recording, with the server's own count of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The text.
    pub text: String,
    /// Length of the recording in whole seconds, rounded up.
    pub seconds: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<(u64, u64)>,
}

/// Transcribes a recording.
///
/// # Errors
/// As for a model; a recording that is larger than any endpoint accepts is [`ModelError::TooLong`].
pub async fn transcribe(config: &Transcription, bytes: Vec<u8>, mime: &str) -> Result<Transcript, ModelError> {
    if bytes.len() > MAX_AUDIO {
        return Err(ModelError::TooLong);
    }
    let post = prepare(config, bytes, mime).map_err(|error| ModelError::Rejected(error.to_string()))?;
    let response = post.send().await.map_err(|error| match error.is_connect() {
        true => wire::connection_error(&error),
        // The recording may have arrived.
        false => ModelError::Cut,
    })?;
    if !response.status().is_success() {
        return Err(error::of_response(response, wire::key(config.api_key.as_ref()), None).await.error);
    }
    // From here on the server has done its work, and may charge for it.
    let body = wire::read_text(response, MAX_TEXT).await.ok().flatten().ok_or(ModelError::Cut)?;
    let answer: TranscriptionResponse = serde_json::from_str(&body).map_err(|_| ModelError::Cut)?;
    let usage: Usage = serde_json::from_value(answer.usage).unwrap_or_default();
    Ok(Transcript { text: answer.text.trim().to_owned(), seconds: usage.length(), tokens: usage.tokens() })
}

#[derive(Deserialize)]
struct TranscriptionResponse {
    text: String,
    #[serde(default)]
    usage: serde_json::Value,
}

/// Server's count. OpenAI counts by the length of a recording (`whisper-1`) or in tokens (the newer
/// models); other servers do not count.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    seconds: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_token_details: Details,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    audio_tokens: Option<u64>,
}

impl Usage {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    fn length(&self) -> Option<u64> {
        let said = self.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        let of_tokens = || self.input_token_details.audio_tokens.map(|tokens| tokens.div_ceil(AUDIO_TOKENS_A_SECOND));
        said.map(|seconds| seconds.ceil() as u64).or_else(of_tokens)
    }

    fn tokens(&self) -> Option<(u64, u64)> {
        self.input_tokens.map(|input| (input, self.output_tokens.unwrap_or(0)))
    }
}

fn prepare(config: &Transcription, bytes: Vec<u8>, mime: &str) -> anyhow::Result<reqwest::RequestBuilder> {
    let base = wire::base(Some(&config.base_url), "https://api.openai.com/v1/")?;
    let url = base.join("audio/transcriptions").context("The address does not end in a path")?;
    // Servers detect the format by the file's name.
    let file = Part::bytes(bytes).file_name(format!("voice.{}", extension(mime)));
    let file = file.mime_str(mime).context("The recording has no proper type")?;
    let form = Form::new().text("model", config.name.clone()).text("response_format", "json").part("file", file);
    Ok(wire::with_key(
        wire::client(Some(REQUEST_TIMEOUT))?.post(url).multipart(form),
        wire::key(config.api_key.as_ref()),
    ))
}

fn extension(mime: &str) -> &'static str {
    file_type::extension_of(mime).unwrap_or("ogg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_format() {
        assert_eq!(extension("audio/ogg; codecs=opus"), "ogg");
        assert_eq!(extension("audio/mpeg"), "mp3");
        assert_eq!(extension("nonsense"), "ogg");
    }

    #[tokio::test]
    async fn oversized_audio_is_not_sent() {
        let config = Transcription {
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            name: "w".to_owned(),
            api_key: None,
            price_per_minute: None,
        };
        let error = transcribe(&config, vec![0; MAX_AUDIO + 1], "audio/ogg").await;
        assert_eq!(error, Err(ModelError::TooLong));
    }
}
