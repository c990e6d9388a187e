//! Voice to text, by any server that offers OpenAI's transcription endpoint.

use std::time::Duration;

use anyhow::Context;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;

use super::{ModelError, fault, wire};
use crate::config::Transcription;

/// The largest recording that is sent, in bytes: the limit of OpenAI's own endpoint.
const MAX_AUDIO: usize = 25 << 20;

/// The most that is read of an answer, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// A recording is heard as a whole before the first byte comes back.
const PATIENCE: Duration = Duration::from_secs(120);

/// The words of a recording.
///
/// # Errors
/// As for a model; a recording that is larger than any endpoint takes is [`ModelError::TooLong`].
pub async fn transcribe(config: &Transcription, bytes: Vec<u8>, mime: &str) -> Result<String, ModelError> {
    if bytes.len() > MAX_AUDIO {
        return Err(ModelError::TooLong);
    }
    let post = prepare(config, bytes, mime).map_err(|error| ModelError::Rejected(error.to_string()))?;
    let response = post.send().await.map_err(|error| wire::lost(&error))?;
    if !response.status().is_success() {
        return Err(fault::of_response(response, wire::key(config.api_key.as_ref()), None).await);
    }
    let body = wire::read_text(response, MAX_TEXT).await.map_err(|error| wire::lost(&error))?;
    let heard: Heard = serde_json::from_str(&body.ok_or(ModelError::TooLong)?)
        .map_err(|_| fault::no_answer("something other than JSON"))?;
    Ok(heard.text.trim().to_owned())
}

#[derive(Deserialize)]
struct Heard {
    text: String,
}

fn prepare(config: &Transcription, bytes: Vec<u8>, mime: &str) -> anyhow::Result<reqwest::RequestBuilder> {
    let base = wire::base(Some(&config.base_url), "https://api.openai.com/v1/")?;
    let url = base.join("audio/transcriptions").context("The address does not end in a path")?;
    // Servers tell the format by the file's name.
    let file = Part::bytes(bytes).file_name(format!("voice.{}", extension(mime)));
    let file = file.mime_str(mime).context("The recording has no proper type")?;
    let form = Form::new().text("model", config.name.clone()).text("response_format", "json").part("file", file);
    let key = wire::key(config.api_key.as_ref());
    let post = wire::client(PATIENCE)?.post(url).multipart(form);
    Ok(if key.is_empty() { post } else { post.bearer_auth(key) })
}

fn extension(mime: &str) -> &'static str {
    let kind = mime.split(';').next().unwrap_or_default().trim();
    match kind {
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" | "audio/aac" => "m4a",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/webm" | "video/webm" => "webm",
        "audio/flac" => "flac",
        "video/mp4" => "mp4",
        _ => "ogg",
    }
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
    async fn what_is_too_large_is_not_sent() {
        let config =
            Transcription { base_url: "http://127.0.0.1:9/v1".to_owned(), name: "w".to_owned(), api_key: None };
        let error = transcribe(&config, vec![0; MAX_AUDIO + 1], "audio/ogg").await;
        assert_eq!(error, Err(ModelError::TooLong));
    }
}
