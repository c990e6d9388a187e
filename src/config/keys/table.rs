//! The keys, laid out as the rows of a table.

use super::ValueKind::{Count, Decimal, Duration, Flag, FlagOrText, List, Money, Path, Secret, SecretEnv, SecretFile, Text, Url};
use super::Unset::{Depends, Instead, Is, Nothing};
use super::{SectionSpelling, Key, ValueKind, Section, Unset};

/// All sections, in the order of the example file.
pub static SECTIONS: &[Section] = &[
    table("", "", TOP),
    table("conversation", "Limits of conversations and turns.", CONVERSATION),
    table("model", "The model that answers.", MODEL),
    price("model.price"),
    again("model.fallback", "Asked when the model cannot be reached. Off unless set.", MODEL),
    price("model.fallback.price"),
    again("model.background", "For summaries and other background work. Default: the main model.", MODEL),
    price("model.background.price"),
    again("model.reviewer",
        "Reviews changes of skills; review = \"ai\" needs it. Another name or server than the other models. \
         Default: the background model, which only advises.", MODEL),
    price("model.reviewer.price"),
    table("transcription", "Voice notes to text, by an OpenAI-compatible server. Off unless set.", TRANSCRIPTION),
    table("embedding", "Text embeddings, so that search finds paraphrases. Off unless set.", EMBEDDING),
    table("budget", "Limits per local day: in money, and in tokens for models without a price.", BUDGET),
    table("telegram", "The Telegram bot. Off unless set.", TELEGRAM),
    table("signal", "Signal, through the daemon of signal-cli. Off unless set.", SIGNAL),
    repeated("people", "A person with access; repeat the section for each.", PEOPLE),
    table("groups", "Groups in which the assistant answers. None unless set.", GROUPS),
    table("agent", "The assistant itself.", AGENT),
    table("memory", "The assistant's memory.", MEMORY),
    table("skills", "The assistant's skills, and who decides on changes.", SKILLS),
    table("reflection", "Reflections on each day, week and month, and their actions.", REFLECTION),
    table("heartbeat", "Regular checks of the items that the owner wrote in HEARTBEAT.md.", HEARTBEAT),
    table("tools", "Built-in tools.", TOOLS),
    table("web", "The page, for a browser on this computer; `compline web` signs one in.", WEB),
    repeated("mcp", "An MCP server; repeat the section for each. Its tools are offered once accepted with `compline tools`.", MCP),
    table("retention", "Retention periods.", RETENTION),
    table("standby", "A second machine, fed by Litestream. Off unless set.", STANDBY),
];

const TOP: &[Key] = &[
    key("timezone", Text, Is("UTC"), "UTC",
        "IANA time zone for days and displayed times, such as \"Europe/Vienna\"."),
    key("language", Text, Is("en"), "en",
        "Language in which groups are addressed, and people whose own is not known; /settings lists all."),
    key("workspace", Path, Is("HOME/workspace"), "HOME/workspace",
        "Folder of the Markdown memory; HOME is Compline's home. Also WORKSPACE_PATH."),
];

const CONVERSATION: &[Key] = &[
    key("gap", Duration, Is("6h"), "6h", "A longer silence ends the conversation; 1m to 7d."),
    key("join_within", Duration, Is("600ms"), "600ms",
        "Messages closer together are joined until the answer begins, for at most 5s; 0 joins none."),
    key("max_turn", Duration, Is("10m"), "10m", "Time limit of one turn; 10s to 1d."),
    key("trust_own_photos", Flag, Is("false"), "false",
        "Counts photos that people send (not files, not forwards) as theirs: reminders from them need no yes. \
         Whoever writes on a thing that you photograph then writes to the assistant. Telegram only."),
];

const MODEL: &[Key] = &[
    key("provider", Text, Is("offline"), "openai",
        "Protocol: \"offline\" (needs nothing), \"openai\" (any compatible server), \"anthropic\", \"gemini\" or \"ollama\"."),
    key("base_url", Url, Depends("the provider's own"), "https://llm.example.org/v1", "Server, if not the provider's own."),
    key("name", Text, Nothing, "model-name", "Model name, exactly as the provider spells it; required except for \"offline\"."),
    key("api_key", Secret, Nothing, "put-your-key-here", "API key: inline, or its location (one of the three)."),
    key("api_key_env", SecretEnv, Instead, "COMPLINE_MODEL_KEY", "The environment variable that holds the key."),
    key("api_key_file", SecretFile, Instead, "HOME/model.key", "The file that holds the key."),
    key("context_window", Count, Depends(WINDOWS), "32768", "Context window, in tokens."),
    key("max_output", Count, Depends("4096, or half the window if that is less"), "4096", "Maximum length of an answer, in tokens."),
    key("temperature", Decimal, Depends("the provider's own"), "0.7", "Sampling temperature, 0 to 2."),
    key("images", Flag, Depends("as known of the model; else true for anthropic, gemini and openai without base_url, false otherwise"), "false",
        "Whether the model accepts images."),
    key("patience", Duration, Is("60s"), "60s",
        "Timeout for the first part of an answer and between two parts; 1s to 1h."),
];

const WINDOWS: &str = "as known of the model; else 200000 for anthropic, 1000000 for gemini, 128000 for openai, \
    32768 for openai with base_url, 8192 for ollama, 16384 for offline";

const PRICE: &[Key] = &[
    key("input", Money, Nothing, "3.00", "Of input."),
    key("cached", Money, Depends("the price of input"), "0.30", "Of input served from the provider's cache."),
    key("output", Money, Nothing, "15.00", "Of output."),
];

const TRANSCRIPTION: &[Key] = &[
    key("base_url", Url, Nothing, "https://llm.example.org/v1", "Server address, including /v1."),
    key("name", Text, Nothing, "whisper-1", "Model name, exactly as the server spells it."),
    key("api_key", Secret, Nothing, "put-your-key-here",
        "API key, if needed: inline, or its location (one of the three)."),
    key("api_key_env", SecretEnv, Instead, "COMPLINE_TRANSCRIPTION_KEY", "The environment variable that holds the key."),
    key("api_key_file", SecretFile, Instead, "HOME/transcription.key", "The file that holds the key."),
    key("price_per_minute", Money, Depends("unknown; 32 tokens a second are counted instead"), "0.006",
        "Price per minute of audio."),
];

const EMBEDDING: &[Key] = &[
    key("provider", Text, Is("none"), "openai", "Provider: \"none\", \"openai\" (any compatible server) or \"ollama\"."),
    key("base_url", Url, Depends("the provider's own"), "http://127.0.0.1:11434", "Server, if not the provider's own."),
    key("name", Text, Nothing, "nomic-embed-text", "Model name, exactly as the server spells it; required unless \"none\"."),
    key("dimensions", Count, Depends("the model's own"), "768", "Vector length to request, if the model supports shorter ones; 8 to 8192."),
    key("api_key", Secret, Nothing, "put-your-key-here", "API key, if needed: inline, or its location (one of the three)."),
    key("api_key_env", SecretEnv, Instead, "COMPLINE_EMBEDDING_KEY", "The environment variable that holds the key."),
    key("api_key_file", SecretFile, Instead, "HOME/embedding.key", "The file that holds the key."),
];

const BUDGET: &[Key] = &[
    key("daily", Money, Is("5.00"), "5.00", "Total, in the currency of the prices."),
    key("daily_tokens", Count, Is("2000000"), "2000000", "Total, in tokens."),
    key("per_person_daily", Money, Depends("four fifths of daily"), "4.00", "Per person, in money."),
    key("per_person_daily_tokens", Count, Depends("four fifths of daily_tokens"), "1600000", "Per person, in tokens."),
    key("per_group_daily", Money, Depends("a fifth of daily"), "1.00", "Per group, in money."),
    key("per_group_daily_tokens", Count, Depends("a fifth of daily_tokens"), "400000", "Per group, in tokens."),
    key("background_daily", Money, Depends("a fifth of daily"), "1.00", "Background work, in money."),
    key("background_daily_tokens", Count, Depends("a fifth of daily_tokens"), "400000", "Background work, in tokens."),
    key("owner_reserve", Count, Is("20"), "20",
        "Percentage of daily and daily_tokens reserved for owners' chats, 0 to 90."),
    key("tool_rounds", Count, Is("12"), "12", "Maximum rounds of tool calls per turn, 1 to 100."),
];

const TELEGRAM: &[Key] = &[
    key("token", Secret, Nothing, "123456:put-your-token-here",
        "Token from @BotFather: inline, or its location (one of the three)."),
    key("token_env", SecretEnv, Instead, "COMPLINE_TELEGRAM_TOKEN", "The environment variable that holds the token."),
    key("token_file", SecretFile, Instead, "HOME/telegram.token", "The file that holds the token."),
    key("api_url", Url, Is("https://api.telegram.org"), "https://api.telegram.org", "Address of the Bot API."),
    key("files_dir", Path, Nothing, "/var/lib/telegram-bot-api",
        "Folder of a local Bot API server (--local), which names files by their paths. Others are not read."),
    key("mode", Text, Is("polling"), "webhook", "Receiving: \"polling\" (needs no open port) or \"webhook\" (Telegram calls)."),
    key("webhook_url", Url, Nothing, "https://bot.example.org/telegram", "Public address that Telegram calls; required for \"webhook\"."),
    key("webhook_listen", Text, Is("127.0.0.1:8443"), "127.0.0.1:8443",
        "Local address for the calls, behind a TLS proxy."),
    key("webhook_secret", Secret, Nothing, "put-a-long-random-word-here",
        "Secret that Telegram sends with each call, 16 to 256 of A-Z a-z 0-9 _ -: inline, or its location (one of the three)."),
    key("webhook_secret_env", SecretEnv, Instead, "COMPLINE_WEBHOOK_SECRET", "The environment variable that holds it."),
    key("webhook_secret_file", SecretFile, Instead, "HOME/webhook.secret", "The file that holds it."),
];

const SIGNAL: &[Key] = &[
    key("endpoint", Text, Is("unix:HOME/signal.sock"), "unix:HOME/signal.sock",
        "Address of signal-cli's daemon: \"unix:PATH\", \"tcp:HOST:PORT\" or \"http://HOST:PORT\"."),
    key("account", Text, Depends("the only one the daemon has"), "+431234567890", "The assistant's account at the daemon."),
    key("attachments_dir", Path, Depends("asked of the daemon"), "/var/lib/signal-cli/attachments",
        "The daemon's folder of received files, if readable from here."),
    key("command", List, Is("[]"), "[\"signal-cli\", \"daemon\", \"--socket\", \"HOME/signal.sock\", \"--receive-mode=manual\", \"--no-receive-stdout\"]",
        "Command that starts the daemon, if Compline is to run it."),
];

const PEOPLE: &[Key] = &[
    key("name", Text, Nothing, "Ada",
        "Name used by the assistant: 1 to 40 letters, digits, spaces, - and _."),
    key("role", Text, Is("member"), "owner", "\"owner\" (may do everything) or \"member\" (may chat)."),
    key("telegram", Count, Nothing, "123456789", "Numeric Telegram id; @userinfobot shows it."),
    key("signal", Text, Nothing, "+431234567890", "Signal number, or the account identifier from `compline people list`."),
    key("prefer", Text, Depends("where they wrote last"), "signal",
        "Channel for reminders and notices: \"telegram\", \"signal\" or \"terminal\" (while attached to it)."),
    key("zone", Text, Depends("timezone"), "Europe/Lisbon",
        "Their own time zone, for times that they name or are shown, and for quiet_hours."),
    key("language", Text, Depends("their channel, or language"), "de",
        "Language in which they are addressed. What they choose with /settings comes first."),
    key("quiet_hours", Text, Is("22:00-07:00"), "23:00-08:00",
        "Local hours in which nothing that they did not ask for disturbs them; \"\" for none. Reminders and tasks still come at their time."),
];

const GROUPS: &[Key] = &[
    key("allowed", List, Is("[]"), "[\"telegram:-1001234567890\"]",
        "Allowed groups. Speak to the assistant in a group: it tells you in your direct chat what to add here."),
    key("answer", Text, Is("mention"), "mention", "Messages answered there: \"mention\" (those that name it or reply to it)."),
    key("guests", Flag, Is("true"), "false", "Whether people without access are answered there too."),
];

const AGENT: &[Key] = &[
    key("name", Text, Is("compline"), "compline", "Name of the assistant."),
    key("profile", Text, Is("default"), "default", "Profile that carries the facts it learns about you. Blank for none: then they stay in the workspace."),
];

const MEMORY: &[Key] = &[
    key("enabled", Flag, Is("true"), "true", "Whether the assistant has a memory. If false, nothing is kept, and MEMORY.md, notes and learnings are not read; AGENTS.md, SOUL.md and USER.md are."),
    key("placement", Text, Is("tail"), "tail",
        "Position of memory in the prompt: \"tail\" (before the newest message, which keeps the provider's cache warm) or \"system\" (at its beginning)."),
    key("extract_every", Count, Is("10"), "10", "Turns between two extractions of facts; another runs at the end of a conversation. 1 to 1000."),
    key("max_tokens", Count, Is("2000"), "2000", "Prompt budget for the assistant's own memory, and the same again for shared memory, in tokens; 0 to 100000."),
    key("split", Count, Is("60"), "60", "Percentage of that budget for facts about you; the rest is for this workspace. 5 to 95."),
    key("experience_for_all", Flag, Is("false"), "false", "Whether other profiles see the facts that a profile has learned."),
];

const SKILLS: &[Key] = &[
    key("dir", Path, Is("HOME/skills"), "HOME/skills", "Folder of the skills; HOME is Compline's home."),
    key("review", Text, Is("human"), "human",
        "Who decides on the assistant's proposals: \"human\" (always you) or \"ai\" ([model.reviewer], for those from your own \
         conversations that newly do nothing worth listing)."),
    key("tainted_review_mode", Text, Is("human"), "human",
        "Proposals in which outside text had a part: \"human\" (wait for you) or \"reject\" (are not stored)."),
    key("by_hand", Text, Is("hold"), "hold",
        "Changes of that folder by hand: \"hold\" (a new skill is not used until you accept it; an edit of one that you accepted \
         is used at once, and you are told), \"hold-all\" (neither is used until you accept it) or \"live\" (both are used at \
         once, for authors of skills)."),
];

const TOOLS: &[Key] = &[key("web_fetch", Flag, Is("true"), "true", "Whether the assistant may read web pages.")];

const MCP: &[Key] = &[
    key("name", Text, Nothing, "files", "Prefix of its tools (name__tool): 1 to 32 lower-case letters, digits and single hyphens."),
    key("command", List, Nothing, "[\"mcp-server\", \"--quiet\"]",
        "Program and arguments, started in /; or the address of a running server (one of the two)."),
    key("url", Url, Instead, "https://mcp.example.org/mcp", "The address of the server."),
    key("trusted_read_only", List, Is("[]"), "[\"search\"]",
        "Tools that change nothing and send nothing out: they need no yes after outside text."),
    key("pass_env", List, Is("[]"), "[\"MCP_SERVER_KEY\"]",
        "Environment variables for the program besides PATH, HOME, TMPDIR, TZ, LANG and LC_*."),
];

const REFLECTION: &[Key] = &[
    key("enabled", Flag, Is("true"), "true", "Whether reflections run."),
    key("members", Flag, Is("false"), "false", "Whether members have reflections too; theirs propose nothing."),
    key("daily", Text, Is("30 3 * * *"), "30 3 * * *", "Time of the daily reflection, as a cron expression in the time zone."),
    key("weekly", Text, Is("45 3 * * 1"), "45 3 * * 1", "Time of the weekly reflection."),
    key("monthly", Text, Is("0 4 1 * *"), "0 4 1 * *", "Time of the monthly reflection."),
    key("min_messages", Count, Is("4"), "4", "A day with fewer messages of a person is skipped without a model call; 1 to 1000."),
    key("auto_action", Flag, Is("true"), "true", "Whether proposed skill changes go to the gate; otherwise they are only recorded."),
    key("review_mode", Text, Is("human"), "human",
        "Who decides on clean ones: \"human\", \"ai\" ([model.reviewer], as above) or \"none\" (the other stages suffice)."),
    key("max_actions_per_reflection", Count, Is("10"), "10", "Maximum actions per reflection; 0 to 100."),
    key("max_actions_per_day", Count, Is("50"), "50", "Maximum actions per local day; 0 to 1000."),
    key("catch_up_days", Count, Is("7"), "7", "Days to make up for after an absence; older ones are marked as missed. 1 to 60."),
    key("tell_owner", FlagOrText, Is("proposals"), "proposals",
        "When the owner gets one message about a reflection: if something came of it (\"proposals\"), always (true) or never (false)."),
];

const HEARTBEAT: &[Key] = &[
    key("interval", Duration, Is("30m"), "30m",
        "Interval between checks of HEARTBEAT.md; without open items no model is called. At least 1m, or \"0\" for never."),
    key("quiet_hours", Text, Is("22:00-07:00"), "22:00-07:00", "Local hours without checks; \"\" for none."),
];

const WEB: &[Key] = &[
    key("enabled", Flag, Is("true"), "true", "Whether the running gateway serves the page."),
    key("listen", Text, Is("127.0.0.1:7420"), "127.0.0.1:7420",
        "Local address of the page. Beyond this computer it needs public_url."),
    key("public_url", Url, Nothing, "https://compline.example.org",
        "Address of the page behind a TLS proxy that passes on the Host header; /web in the chat needs it."),
    key("session_days", Count, Is("30"), "30", "Days without use after which a browser is signed out; 1 to 365."),
    key("public_metrics", Flag, Is("false"), "false", "Whether /health and /metrics also answer under public_url."),
];

const RETENTION: &[Key] = &[
    key("messages_days", Count, Depends("kept"), "365", "Days to keep the text of messages; summaries and reflections stay."),
    key("attachments_days", Count, Depends("kept"), "90", "Days to keep files that came with messages or from external tools."),
    key("logs_days", Count, Depends("kept"), "30", "Days to keep log files."),
    key("replica_days", Count, Depends("no replica"), "2",
        "Days that a replica keeps what was deleted; only for `/forget` to say. Litestream's snapshot interval and retention together."),
];

const STANDBY: &[Key] = &[
    key("folder", Path, Nothing, "/srv/compline-replica",
        "Folder with journal/ (Litestream's replica) and copies of workspace/, skills/ and experience/."),
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
    let about = "Price per million tokens; as known of the model, in US dollars. Where it is unknown, calls count in tokens.";
    Section { path, form: SectionSpelling::Inline, about, keys: PRICE }
}
