//! Emojis of received stickers.
//!
//! The daemon reports a sticker by its pack and number only, so it is asked for its packs before
//! the item is handed over. Best effort: without an answer, or for a pack that it has not fetched
//! yet, the item stays as it is.

use std::time::Duration;

use serde_json::Value;

use super::jsonrpc::method;
use super::send::SignalAccount;
use crate::adapter::request::{field, list};

/// Time allowed for the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

impl SignalAccount {
    /// Adds the emoji to an item that is a sticker without one.
    pub(super) async fn with_emoji(&self, raw: String) -> String {
        // Hardly any item is one.
        if !raw.contains("\"sticker\"") {
            return raw;
        }
        let Ok(mut item) = serde_json::from_str::<Value>(&raw) else { return raw };
        let Some(sticker) = sticker(&mut item).filter(|sticker| field(sticker, "emoji").is_none()) else { return raw };
        let Ok(packs) = self.rpc.call::<Value>(method::LIST_STICKER_PACKS, &self.params(), TIMEOUT).await else {
            return raw;
        };
        match (emoji(&packs, sticker), sticker.as_object_mut()) {
            (Some(emoji), Some(fields)) => fields.insert("emoji".to_owned(), emoji),
            _ => return raw,
        };
        item.to_string()
    }
}

fn sticker(item: &mut Value) -> Option<&mut Value> {
    let is_wrapped = item.pointer("/result/envelope").is_some();
    let path = if is_wrapped { "/result/envelope/dataMessage/sticker" } else { "/envelope/dataMessage/sticker" };
    item.pointer_mut(path)
}

fn emoji(packs: &Value, sticker: &Value) -> Option<Value> {
    let (pack, number) = (field(sticker, "packId")?, field(sticker, "stickerId")?);
    let pack = packs.as_array()?.iter().find(|known| field(known, "packId") == Some(pack))?;
    let found = list(pack, "stickers").iter().find(|known| field(known, "id") == Some(number))?;
    field(found, "emoji").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_emoji_is_that_of_the_same_pack_and_number() {
        let packs = json!([
            { "packId": "aa", "stickers": [{ "id": 1, "emoji": "🦊" }] },
            { "packId": "bb", "stickers": [{ "id": 0, "emoji": "🐻" }, { "id": 1, "emoji": "🦉" }, { "id": 2 }] },
        ]);
        for (sticker, found) in [
            (json!({ "packId": "bb", "stickerId": 1 }), Some(json!("🦉"))),
            (json!({ "packId": "bb", "stickerId": 2 }), None),
            (json!({ "packId": "bb", "stickerId": 3 }), None),
            (json!({ "packId": "cc", "stickerId": 1 }), None),
            (json!({ "packId": "bb" }), None),
            (json!(null), None),
        ] {
            assert_eq!(emoji(&packs, &sticker), found, "{sticker}");
            for odd in [json!(null), json!({}), json!([7]), json!([{ "packId": "bb", "stickers": 3 }])] {
                assert_eq!(emoji(&odd, &sticker), None);
            }
        }
    }
}
