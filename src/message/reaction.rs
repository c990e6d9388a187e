//! Emoji with which Telegram lets one react to a message.

/// All of them (<https://core.telegram.org/bots/api#reactiontypeemoji>, Bot API 9.3).
pub const ON_TELEGRAM: &[&str] = &[
    "❤",
    "👍",
    "👎",
    "🔥",
    "🥰",
    "👏",
    "😁",
    "🤔",
    "🤯",
    "😱",
    "🤬",
    "😢",
    "🎉",
    "🤩",
    "🤮",
    "💩",
    "🙏",
    "👌",
    "🕊",
    "🤡",
    "🥱",
    "🥴",
    "😍",
    "🐳",
    "❤\u{200d}🔥",
    "🌚",
    "🌭",
    "💯",
    "🤣",
    "⚡",
    "🍌",
    "🏆",
    "💔",
    "🤨",
    "😐",
    "🍓",
    "🍾",
    "💋",
    "🖕",
    "😈",
    "😴",
    "😭",
    "🤓",
    "👻",
    "👨\u{200d}💻",
    "👀",
    "🎃",
    "🙈",
    "😇",
    "😨",
    "🤝",
    "✍",
    "🤗",
    "🫡",
    "🎅",
    "🎄",
    "☃",
    "💅",
    "🤪",
    "🗿",
    "🆒",
    "💘",
    "🙉",
    "🦄",
    "😘",
    "💊",
    "🙊",
    "😎",
    "👾",
    "🤷\u{200d}♂",
    "🤷",
    "🤷\u{200d}♀",
    "😡",
];

/// Others, by the reaction that means the same.
const ALIKE: &[(&str, &str)] = &[
    ("✅☑✔🆗💪🤙", "👍"),
    ("❌✖🚫⛔", "👎"),
    ("♥💙💚💛🧡💜🤍🖤💖💕💗💞", "❤"),
    ("😂😆😄😃😀😹", "🤣"),
    ("🙂😊☺😉🤭", "😁"),
    ("🎊🥳🎈", "🎉"),
    ("😮😲😯", "😱"),
    ("😥😞😔🥺", "😢"),
    ("🚀✨⭐🌟", "🔥"),
    ("👋", "🤝"),
    ("⏰📝📌📎📅", "✍"),
];

/// Returns the reaction on Telegram that an emoji is or means; `None` if there is none.
pub fn on_telegram(emoji: &str) -> Option<&'static str> {
    // A selector asks for the coloured form.
    let plain: String = emoji.chars().filter(|c| *c != '\u{fe0f}').collect();
    let same = ON_TELEGRAM.iter().find(|reaction| **reaction == plain).copied();
    same.or_else(|| {
        let is_alike = |alike: &str| alike.split("").any(|one| !one.is_empty() && one == plain);
        ALIKE.iter().find(|(alike, _)| is_alike(alike)).map(|(_, reaction)| *reaction)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_that_telegram_takes_stays_and_others_mean_the_nearest() {
        for (emoji, reaction) in [
            ("👍", Some("👍")),
            ("❤️", Some("❤")),
            ("✅", Some("👍")),
            ("✔️", Some("👍")),
            ("😂", Some("🤣")),
            ("🦖", None),
            ("", None),
            ("ok", None),
        ] {
            assert_eq!(on_telegram(emoji), reaction, "{emoji}");
        }
        for (_, reaction) in ALIKE {
            assert!(ON_TELEGRAM.contains(reaction), "{reaction}");
        }
    }
}
