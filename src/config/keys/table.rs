//! The keys, laid out as the rows of a table.

use super::ValueKind::{Count, Decimal, Duration, Flag, List, Money, Path, Secret, SecretEnv, SecretFile, Text, Url};
use super::Unset::{Depends, Instead, Is, Nothing};
use super::{SectionSpelling, Key, ValueKind, Section, Unset};

/// All sections, in the order of the example file.
pub static SECTIONS: &[Section] = &[
    table("", "", TOP),
    table("conversation", "When a conversation ends, and what one turn is.", CONVERSATION),
    table("model", "The model that answers.", MODEL),
    price("model.price"),
    again("model.fallback", "Asked when the model cannot be reached. Off unless set.", MODEL),
    price("model.fallback.price"),
    again("model.background", "For summaries and other work nobody waits for. Unless set, the main model.", MODEL),
    price("model.background.price"),
    table("transcription", "Voice notes to text, by an OpenAI-compatible server. Off unless set.", TRANSCRIPTION),
    table("embedding", "Meaning as numbers, so that a search finds what is said in other words. Off unless set.", EMBEDDING),
    table("budget", "Limits of a local day: in money, and in tokens for models without a price.", BUDGET),
    table("telegram", "The Telegram bot. Off unless set.", TELEGRAM),
    table("signal", "Signal, through the daemon of signal-cli. Off unless set.", SIGNAL),
    repeated("people", "Somebody who is allowed in; repeat the section for each.", PEOPLE),
    table("groups", "Groups in which the assistant answers. None unless set.", GROUPS),
    table("agent", "The assistant itself.", AGENT),
    table("memory", "What the assistant keeps of what it is told.", MEMORY),
    table("skills", "What the assistant has learned to do, and who decides about it.", SKILLS),
    table("reflection", "Looking back on each day, week and month, and what may come of it.", REFLECTION),
    table("heartbeat", "Seeing again and again to what the owner wrote in HEARTBEAT.md.", HEARTBEAT),
    table("tools", "What the assistant may use.", TOOLS),
    repeated("mcp", "A server of outside tools (MCP); repeat the section for each. Tools are offered once accepted with `compline tools`.", MCP),
    table("retention", "How long things are kept.", RETENTION),
];

const TOP: &[Key] = &[
    key("timezone", Text, Is("UTC"), "UTC",
        "The IANA zone in which days are counted and times are shown, as \"Europe/Vienna\"."),
    key("workspace", Path, Is("HOME/workspace"), "HOME/workspace",
        "The knowledge tree; HOME is Compline's home. Also WORKSPACE_PATH."),
];

const CONVERSATION: &[Key] = &[
    key("gap", Duration, Is("6h"), "6h", "A longer silence than this closes a conversation; 1m to 7d."),
    key("join_within", Duration, Is("600ms"), "600ms",
        "Messages closer together than this are answered together; at most 5s."),
    key("max_turn", Duration, Is("10m"), "10m", "A turn that takes longer is ended; 10s to 1d."),
];

const MODEL: &[Key] = &[
    key("provider", Text, Is("offline"), "openai",
        "Which wire: \"offline\" (needs nothing), \"openai\" (any compatible server), \"anthropic\", \"gemini\" or \"ollama\"."),
    key("base_url", Url, Depends("the provider's own"), "https://llm.example.org/v1", "Another server than the provider's own."),
    key("name", Text, Nothing, "model-name", "The model, exactly as the provider spells it; needed by all but \"offline\"."),
    key("api_key", Secret, Nothing, "put-your-key-here", "The key: itself, or where it stands (one of the three)."),
    key("api_key_env", SecretEnv, Instead, "COMPLINE_MODEL_KEY", "The environment variable that holds the key."),
    key("api_key_file", SecretFile, Instead, "HOME/model.key", "The file that holds the key."),
    key("context_window", Count, Depends(WINDOWS), "32768", "How much the model can read at once, in tokens."),
    key("max_output", Count, Depends("4096, or half the window if that is less"), "4096", "The longest answer, in tokens."),
    key("temperature", Decimal, Depends("the provider's own"), "0.7", "How freely it chooses its words, 0 to 2."),
    key("images", Flag, Depends("true for anthropic, gemini and openai without base_url, else false"), "false",
        "Whether it can see pictures."),
    key("patience", Duration, Is("60s"), "60s",
        "How long to wait for the first piece of an answer and between two pieces; 1s to 1h."),
];

const WINDOWS: &str = "200000 for anthropic, 1000000 for gemini, 128000 for openai, \
    32768 for openai with base_url, 8192 for ollama, 16384 for offline";

const PRICE: &[Key] = &[
    key("input", Money, Nothing, "3.00", "Of input."),
    key("cached", Money, Depends("the price of input"), "0.30", "Of input served from the provider's cache."),
    key("output", Money, Nothing, "15.00", "Of output."),
];

const TRANSCRIPTION: &[Key] = &[
    key("base_url", Url, Nothing, "https://llm.example.org/v1", "The server, up to and with /v1."),
    key("name", Text, Nothing, "whisper-1", "The model, exactly as the server spells it."),
    key("api_key", Secret, Nothing, "put-your-key-here",
        "The key, if one is needed: itself, or where it stands (one of the three)."),
    key("api_key_env", SecretEnv, Instead, "COMPLINE_TRANSCRIPTION_KEY", "The environment variable that holds the key."),
    key("api_key_file", SecretFile, Instead, "HOME/transcription.key", "The file that holds the key."),
    key("price_per_minute", Money, Depends("unknown; 32 tokens a second are counted instead"), "0.006",
        "Price of one minute of sound."),
];

const EMBEDDING: &[Key] = &[
    key("provider", Text, Is("none"), "openai", "Who computes it: \"none\", \"openai\" (any compatible server) or \"ollama\"."),
    key("base_url", Url, Depends("the provider's own"), "http://127.0.0.1:11434", "Another server than the provider's own."),
    key("name", Text, Nothing, "nomic-embed-text", "The model, exactly as the server spells it; needed unless \"none\"."),
    key("dimensions", Count, Depends("the model's own"), "768", "How many numbers to ask for, where the model can give fewer; 8 to 8192."),
    key("api_key", Secret, Nothing, "put-your-key-here", "The key, if one is needed: itself, or where it stands (one of the three)."),
    key("api_key_env", SecretEnv, Instead, "COMPLINE_EMBEDDING_KEY", "The environment variable that holds the key."),
    key("api_key_file", SecretFile, Instead, "HOME/embedding.key", "The file that holds the key."),
];

const BUDGET: &[Key] = &[
    key("daily", Money, Is("5.00"), "5.00", "All spending, in the currency the prices are in."),
    key("daily_tokens", Count, Is("2000000"), "2000000", "All spending, in tokens."),
    key("per_person_daily", Money, Depends("four fifths of daily"), "4.00", "One person's, in money."),
    key("per_person_daily_tokens", Count, Depends("four fifths of daily_tokens"), "1600000", "One person's, in tokens."),
    key("per_group_daily", Money, Depends("a fifth of daily"), "1.00", "One group's, in money."),
    key("per_group_daily_tokens", Count, Depends("a fifth of daily_tokens"), "400000", "One group's, in tokens."),
    key("background_daily", Money, Depends("a fifth of daily"), "1.00", "Work nobody waits for, in money."),
    key("background_daily_tokens", Count, Depends("a fifth of daily_tokens"), "400000", "Work nobody waits for, in tokens."),
    key("owner_reserve", Count, Is("20"), "20",
        "Percentage of daily and daily_tokens that only the chats of owners may spend, 0 to 90."),
    key("tool_rounds", Count, Is("12"), "12", "The most rounds of tool calls in one turn, 1 to 100."),
];

const TELEGRAM: &[Key] = &[
    key("token", Secret, Nothing, "123456:put-your-token-here",
        "The token from @BotFather: itself, or where it stands (one of the three)."),
    key("token_env", SecretEnv, Instead, "COMPLINE_TELEGRAM_TOKEN", "The environment variable that holds the token."),
    key("token_file", SecretFile, Instead, "HOME/telegram.token", "The file that holds the token."),
    key("api_url", Url, Is("https://api.telegram.org"), "https://api.telegram.org", "Where the Bot API is."),
    key("mode", Text, Is("polling"), "webhook", "How messages come: \"polling\" (needs nothing) or \"webhook\" (Telegram calls)."),
    key("webhook_url", Url, Nothing, "https://bot.example.org/telegram", "The public address that Telegram calls; needed by \"webhook\"."),
    key("webhook_listen", Text, Is("127.0.0.1:8443"), "127.0.0.1:8443",
        "Where its calls arrive, behind a proxy that speaks TLS."),
    key("webhook_secret", Secret, Nothing, "put-a-long-random-word-here",
        "What Telegram shows with each call, 16 to 256 of A-Z a-z 0-9 _ -: itself, or where it stands (one of the three)."),
    key("webhook_secret_env", SecretEnv, Instead, "COMPLINE_WEBHOOK_SECRET", "The environment variable that holds it."),
    key("webhook_secret_file", SecretFile, Instead, "HOME/webhook.secret", "The file that holds it."),
];

const SIGNAL: &[Key] = &[
    key("endpoint", Text, Is("unix:HOME/signal.sock"), "unix:HOME/signal.sock",
        "Where signal-cli's daemon listens: \"unix:PATH\", \"tcp:HOST:PORT\" or \"http://HOST:PORT\"."),
    key("account", Text, Depends("the only one the daemon has"), "+431234567890", "Which of its accounts is the assistant's."),
    key("attachments_dir", Path, Depends("asked of the daemon"), "/var/lib/signal-cli/attachments",
        "The daemon's folder of received files, if it can be read from here."),
    key("command", List, Is("[]"), "[\"signal-cli\", \"daemon\", \"--socket\", \"HOME/signal.sock\", \"--receive-mode=manual\", \"--no-receive-stdout\"]",
        "The daemon itself, if Compline shall start it and keep it running."),
];

const PEOPLE: &[Key] = &[
    key("name", Text, Nothing, "Ada",
        "The name under which the assistant knows them: 1 to 40 letters, digits, spaces, - and _."),
    key("role", Text, Is("member"), "owner", "\"owner\" (may do everything) or \"member\" (may chat)."),
    key("telegram", Count, Nothing, "123456789", "Their numeric Telegram id; @userinfobot tells it."),
    key("signal", Text, Nothing, "+431234567890", "Their Signal number, or the account identifier that `compline people list` shows."),
    key("prefer", Text, Depends("where they wrote last"), "signal",
        "Where reminders and notices go: \"telegram\", \"signal\" or \"terminal\"."),
];

const GROUPS: &[Key] = &[
    key("allowed", List, Is("[]"), "[\"telegram:-1001234567890\"]",
        "Which ones. Speak to the assistant in a group: it tells you in your direct chat what to write here."),
    key("answer", Text, Is("mention"), "mention", "What it answers there: \"mention\" (what names it or replies to it)."),
];

const AGENT: &[Key] = &[
    key("name", Text, Is("compline"), "compline", "What the assistant is called."),
    key("profile", Text, Is("default"), "default", "Its profile: what it learns about you travels under this name. Blank for none; then it stays in the workspace."),
];

const MEMORY: &[Key] = &[
    key("enabled", Flag, Is("true"), "true", "Whether anything is remembered. Switched off, nothing is kept, and MEMORY.md, notes and what was learned are not read; AGENTS.md, SOUL.md and USER.md are."),
    key("placement", Text, Is("tail"), "tail",
        "Where memory stands in a prompt: \"tail\" (before the newest message, which keeps the provider's cache warm) or \"system\" (at its beginning)."),
    key("extract_every", Count, Is("10"), "10", "Facts are taken down after so many turns, and at the end of a conversation; 1 to 1000."),
    key("max_tokens", Count, Is("2000"), "2000", "Room for the assistant's own memory in a prompt, and as much again for what is shared, in tokens; 0 to 100000."),
    key("split", Count, Is("60"), "60", "How much of that room goes to what it learned about you, in per cent; the rest to this workspace. 5 to 95."),
    key("experience_for_all", Flag, Is("false"), "false", "Whether what a profile has learned is shown to other profiles too."),
];

const SKILLS: &[Key] = &[
    key("dir", Path, Is("HOME/skills"), "HOME/skills", "The skills; HOME is Compline's home."),
    key("review", Text, Is("human"), "human",
        "Who decides about the assistant's own proposals: \"human\" (you, always) or \"ai\" (a reviewer, for what is clean in every respect)."),
    key("tainted_review_mode", Text, Is("human"), "human",
        "What text from outside had a part in: \"human\" (waits for you) or \"reject\" (is not even kept)."),
    key("by_hand", Text, Is("hold"), "hold",
        "A folder that was put among the skills by hand: \"hold\" (not used until you accept it) or \"live\" (used at once; for those who write skills themselves)."),
];

const TOOLS: &[Key] = &[key("web_fetch", Flag, Is("true"), "true", "Whether the assistant may read web pages.")];

const MCP: &[Key] = &[
    key("name", Text, Nothing, "files", "Its tools are called name__tool: 1 to 32 lower-case letters, digits and single hyphens."),
    key("command", List, Nothing, "[\"mcp-server\", \"--quiet\"]",
        "The program and its arguments, started in /; or the address of a server that runs already (one of the two)."),
    key("url", Url, Instead, "https://mcp.example.org/mcp", "The address of the server."),
    key("trusted_read_only", List, Is("[]"), "[\"search\"]",
        "Its tools that change nothing and send nothing out: they need no yes after outside text was read."),
    key("pass_env", List, Is("[]"), "[\"MCP_SERVER_KEY\"]",
        "Environment variables that the program gets besides PATH, HOME, TMPDIR and those of language and time."),
];

const REFLECTION: &[Key] = &[
    key("enabled", Flag, Is("true"), "true", "Whether the assistant looks back on days, weeks and months."),
    key("members", Flag, Is("false"), "false", "Whether it does so for each member too; nothing is proposed from theirs."),
    key("daily", Text, Is("30 3 * * *"), "30 3 * * *", "When it looks back on the days that are over, as a cron expression in the zone."),
    key("weekly", Text, Is("45 3 * * 1"), "45 3 * * 1", "The same for weeks."),
    key("monthly", Text, Is("0 4 1 * *"), "0 4 1 * *", "The same for months."),
    key("min_messages", Count, Is("4"), "4", "With fewer messages of a person in a day it is passed over without asking a model; 1 to 1000."),
    key("auto_action", Flag, Is("true"), "true", "Whether skill changes that a reflection proposes go to the gate; else they are only noted."),
    key("review_mode", Text, Is("human"), "human",
        "Who decides about clean ones: \"human\", \"ai\" (the reviewer may approve) or \"none\" (what passes the other stages is live)."),
    key("max_actions_per_reflection", Count, Is("10"), "10", "So many of them go to the gate from one reflection; 0 to 100."),
    key("max_actions_per_day", Count, Is("50"), "50", "So many on one local day; 0 to 1000."),
    key("catch_up_days", Count, Is("7"), "7", "After an absence, days that ended longer ago than this are not looked back on; 1 to 60."),
    key("tell_owner", Flag, Is("true"), "true", "Whether the owner gets a short message about each."),
];

const HEARTBEAT: &[Key] = &[
    key("interval", Duration, Is("30m"), "30m",
        "How often HEARTBEAT.md is looked at; while nothing is to do there, no model is asked. At least 1m, or \"0\" for never."),
    key("quiet_hours", Text, Is("22:00-07:00"), "22:00-07:00", "Local hours in which it is not looked at; \"\" for none."),
];

const RETENTION: &[Key] = &[
    key("messages_days", Count, Depends("kept"), "365", "Days that the words of messages are kept; summaries and reflections stay."),
    key("attachments_days", Count, Depends("kept"), "90", "Days that files which came with messages are kept."),
    key("logs_days", Count, Depends("kept"), "30", "Days that log files are kept."),
];

const fn key(name: &'static str, kind: ValueKind, unset: Unset, sample: &'static str, about: &'static str) -> Key {
    Key { name, kind, unset, sample, about }
}

const fn table(path: &'static str, about: &'static str, keys: &'static [Key]) -> Section {
    Section { path, form: SectionSpelling::Table, about, keys }
}

const fn again(path: &'static str, about: &'static str, keys: &'static [Key]) -> Section {
    Section { path, form: SectionSpelling::Again, about, keys }
}

const fn repeated(path: &'static str, about: &'static str, keys: &'static [Key]) -> Section {
    Section { path, form: SectionSpelling::Repeated, about, keys }
}

const fn price(path: &'static str) -> Section {
    let about = "Money for a million tokens; while it is not set, calls count in tokens.";
    Section { path, form: SectionSpelling::Inline, about, keys: PRICE }
}
