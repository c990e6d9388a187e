//! Interprets the written values section by section.

use std::collections::BTreeSet;
use std::time::Duration;

use super::error::ValueError;
use super::reader::ConfigReader;
use super::units::{self, nearest_zone, quoted, wrong};
use super::{
    Agent, Budget, ByHand, Config, ConfigSource, Conversation, Embedding, EmbeddingProvider, Heartbeat, Limit, Memory,
    Person, Placement, Reflection, ReflectionReview, Retention, Skills, TellOwner, Tools, channels, mcp, models, page,
};
use crate::people::{Role, is_name};
use crate::time::{Cron, QuietHours, Zone, parse_quiet_hours};
use crate::wording::Language;

impl ConfigReader<'_> {
    /// Interprets the complete configuration. Values with faults are placeholders.
    pub fn config(&mut self) -> Config {
        let config = self.sections();
        let asks_reviewer = config.skills.reviewer_approves || config.reflection.review == ReflectionReview::Ai;
        if asks_reviewer && config.own_reviewer().is_none() {
            let warning = "\"ai\" approves nothing: there is no reviewer of its own; set [model.reviewer] to \
                another model or another server than the other models";
            self.warnings.push(warning.to_owned());
        }
        config
    }

    fn sections(&mut self) -> Config {
        let (zone, workspace) = (self.zone(), self.folder("", "workspace"));
        Config {
            source: ConfigSource::default(),
            zone,
            language: self.get("", "language", language).unwrap_or(Language::ENGLISH),
            conversation: self.conversation(),
            model: models::model(self, "model"),
            fallback: models::optional_model(self, "model.fallback"),
            background: models::optional_model(self, "model.background"),
            reviewer: models::optional_model(self, "model.reviewer"),
            transcription: models::transcription(self),
            budget: self.budget(),
            telegram: channels::telegram(self),
            signal: channels::signal(self),
            groups: channels::groups(self),
            people: self.people(),
            agent: self.agent(),
            memory: memory(self),
            embedding: embedding(self),
            tools: Tools { web_fetch: self.get("tools", "web_fetch", units::flag).unwrap_or_default() },
            web: page::web(self),
            skills: self.skills(),
            mcp: mcp::servers(self, &workspace),
            workspace,
            reflection: reflection(self),
            heartbeat: heartbeat(self),
            retention: self.retention(),
            replica: self.is_written("standby", "folder").then(|| self.folder("standby", "folder")),
            home: self.home.clone(),
        }
    }

    fn zone(&mut self) -> Zone {
        if !self.is_written("", "timezone") {
            let warning = "timezone is not set, so days are counted in UTC; write timezone = \"Area/City\"";
            self.warnings.push(warning.to_owned());
        }
        self.get("", "timezone", zone).unwrap_or(Zone::UTC)
    }

    fn skills(&mut self) -> Skills {
        let mut either = |name: &str, usual: &'static str, other: &'static str| {
            self.get("skills", name, |text| units::one_of(text, &[(usual, false), (other, true)])).unwrap_or_default()
        };
        let reviewer_approves = either("review", "human", "ai");
        let tainted_is_rejected = either("tainted_review_mode", "human", "reject");
        let ways = [("hold", ByHand::Hold), ("hold-all", ByHand::HoldAll), ("live", ByHand::Live)];
        let by_hand = self.get("skills", "by_hand", |text| units::one_of(text, &ways)).unwrap_or_default();
        Skills { dir: self.folder("skills", "dir"), reviewer_approves, tainted_is_rejected, by_hand }
    }

    fn conversation(&mut self) -> Conversation {
        let trust_own_photos = self.get("conversation", "trust_own_photos", units::flag).unwrap_or_default();
        let mut span = |name: &str, least: Duration, most: Duration| {
            let within = |text: &str| units::duration_within(text, least, most);
            self.get("conversation", name, within).unwrap_or_default()
        };
        Conversation {
            trust_own_photos,
            gap: span("gap", Duration::from_mins(1), Duration::from_hours(7 * 24)),
            join_within: span("join_within", Duration::ZERO, Duration::from_secs(5)),
            max_turn: span("max_turn", Duration::from_secs(10), Duration::from_hours(24)),
        }
    }

    fn budget(&mut self) -> Budget {
        let daily = Limit {
            micros: self.get("budget", "daily", above_zero(units::money)).unwrap_or_default(),
            tokens: self.get("budget", "daily_tokens", above_zero(units::tokens)).unwrap_or_default(),
        };
        Budget {
            daily,
            per_person_daily: self.limit("per_person_daily", share_of(daily, 4)),
            per_group_daily: self.limit("per_group_daily", share_of(daily, 1)),
            background_daily: self.limit("background_daily", share_of(daily, 1)),
            owner_reserve: self.get("budget", "owner_reserve", |text| units::count(text, 0, 90)).unwrap_or_default(),
            tool_rounds: self.get("budget", "tool_rounds", |text| small_count(text, 1, 100)).unwrap_or_default(),
        }
    }

    fn limit(&mut self, name: &str, default: Limit) -> Limit {
        let show_money = |micros: &u64| units::show_money(*micros);
        let by_tokens = format!("{name}_tokens");
        Limit {
            micros: self.get_or("budget", name, units::money, default.micros, show_money),
            tokens: self.get_or("budget", &by_tokens, units::tokens, default.tokens, u64::to_string),
        }
    }

    fn people(&mut self) -> Vec<Person> {
        let (mut names, mut ids, mut accounts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut people = Vec::new();
        for at in self.each("people") {
            let name = self.need(&at, "name", |text| unique_name(text, &mut names));
            let role = self.get(&at, "role", role);
            let telegram = self.get(&at, "telegram", |text| unique_id(text, &mut ids));
            let signal = self.get(&at, "signal", |text| channels::unique_account(text, &mut accounts));
            let prefer = self.get(&at, "prefer", channels::adapter);
            let zone = self.get(&at, "zone", zone);
            let language = self.get(&at, "language", language);
            let quiet = self.get(&at, "quiet_hours", |text| quiet_hours(text).map(|_| text.trim().to_owned()));
            let person = |(name, role)| Person {
                name,
                role,
                telegram,
                signal,
                prefer,
                zone,
                language,
                quiet_hours: quiet.unwrap_or_default(),
            };
            people.extend(name.zip(role).map(person));
        }
        people
    }

    fn retention(&mut self) -> Retention {
        let mut days = |name: &str| self.get("retention", name, |text| small_count(text, 1, 36_500));
        Retention {
            messages_days: days("messages_days"),
            attachments_days: days("attachments_days"),
            logs_days: days("logs_days"),
            replica_days: days("replica_days"),
        }
    }

    fn agent(&mut self) -> Agent {
        Agent {
            name: self.get("agent", "name", name).unwrap_or_default(),
            profile: self.get("agent", "profile", profile).unwrap_or_default(),
        }
    }
}

fn language(text: &str) -> Result<Language, ValueError> {
    Language::all().find(|language| language.code() == text.trim()).ok_or_else(|| {
        let known: Vec<String> = Language::all().map(|known| quoted(known.code())).collect();
        let fix = format!("write one of {}", known.join(", "));
        ValueError::new(format!("There is no language {}", quoted(text)), fix)
    })
}

fn zone(text: &str) -> Result<Zone, ValueError> {
    Zone::named(text).ok_or_else(|| {
        let fix = match nearest_zone(text) {
            Some(suggestion) => format!("write \"{suggestion}\", if that is what was meant"),
            None => "write an IANA zone, as \"Europe/Vienna\"".to_owned(),
        };
        ValueError::new(format!("There is no time zone {}", quoted(text)), fix)
    })
}

fn role(text: &str) -> Result<Role, ValueError> {
    text.parse::<Role>().ok().filter(|role| *role != Role::Guest).ok_or_else(|| {
        wrong(text, "is no role that can be given", "write \"owner\" (may do everything) or \"member\" (may chat)")
    })
}

/// Parses a name, or an empty text for an agent without a profile.
fn profile(text: &str) -> Result<String, ValueError> {
    if text.is_empty() { Ok(String::new()) } else { name(text) }
}

fn name(text: &str) -> Result<String, ValueError> {
    if is_name(text) {
        return Ok(text.to_owned());
    }
    let fix = "write 1 to 40 letters, digits, spaces, - and _, without a space at either end";
    Err(wrong(text, "cannot be a name here", fix))
}

fn unique_name(text: &str, taken: &mut BTreeSet<String>) -> Result<String, ValueError> {
    let name = name(text)?;
    let folded = name.to_lowercase();
    if folded == Role::Guest.as_str() {
        return Err(ValueError::new("guest is what strangers are called", "write another name"));
    }
    if !taken.insert(folded) {
        return Err(ValueError::new(
            format!("There is another {} already", quoted(text)),
            "give each person a name of their own",
        ));
    }
    Ok(name)
}

fn unique_id(text: &str, taken: &mut BTreeSet<i64>) -> Result<i64, ValueError> {
    let number: Option<i64> = text.parse().ok();
    let Some(id) = number.filter(|id| (1..1 << 52).contains(id)) else {
        let what = match number {
            Some(..0) => "A negative id is that of a group, not of a person".to_owned(),
            _ => format!("{} is no Telegram id", quoted(text)),
        };
        return Err(ValueError::new(what, "write the person's numeric id; @userinfobot tells it"));
    };
    if !taken.insert(id) {
        return Err(ValueError::new(
            format!("Another person has the id {id} already"),
            "give each person their own id",
        ));
    }
    Ok(id)
}

fn above_zero(parse: fn(&str) -> Result<u64, ValueError>) -> impl FnOnce(&str) -> Result<u64, ValueError> {
    move |text| match parse(text)? {
        0 => {
            Err(ValueError::new("With nothing to spend, no model could be asked", "write the most that a day may cost"))
        }
        limit => Ok(limit),
    }
}

fn share_of(daily: Limit, share: u64) -> Limit {
    let part = |whole: u64| (whole.saturating_mul(share) / 5).max(1);
    Limit { micros: part(daily.micros), tokens: part(daily.tokens) }
}

/// Parses a whole number between two bounds that fit.
fn small_count(text: &str, least: u64, most: u64) -> Result<u32, ValueError> {
    Ok(u32::try_from(units::count(text, least, most)?).unwrap_or_default())
}

const REFLECTION: &str = "reflection";

/// Interprets `[reflection]`.
fn reflection(reader: &mut ConfigReader<'_>) -> Reflection {
    let mut flag = |name: &str| reader.get(REFLECTION, name, units::flag).unwrap_or_default();
    let (enabled, members, auto_action) = (flag("enabled"), flag("members"), flag("auto_action"));
    let mut cron = |name: &str| reader.get(REFLECTION, name, cron).flatten();
    let (daily, weekly, monthly) = (cron("daily"), cron("weekly"), cron("monthly"));
    let mut count = |name: &str, least: u64, most: u64| {
        reader.get(REFLECTION, name, |text| small_count(text, least, most)).unwrap_or_default()
    };
    let authorities =
        [("human", ReflectionReview::Human), ("ai", ReflectionReview::Ai), ("none", ReflectionReview::Nobody)];
    let tells = [("proposals", TellOwner::Proposals), ("true", TellOwner::Always), ("false", TellOwner::Never)];
    Reflection {
        enabled,
        members,
        daily,
        weekly,
        monthly,
        min_messages: count("min_messages", 1, 1000),
        auto_action,
        max_actions_per_reflection: count("max_actions_per_reflection", 0, 100),
        max_actions_per_day: count("max_actions_per_day", 0, 1000),
        catch_up_days: count("catch_up_days", 1, 60),
        review: reader.get(REFLECTION, "review_mode", |text| units::one_of(text, &authorities)).unwrap_or_default(),
        tell_owner: reader.get(REFLECTION, "tell_owner", |text| units::one_of(text, &tells)).unwrap_or_default(),
    }
}

/// Interprets `[heartbeat]`.
fn heartbeat(reader: &mut ConfigReader<'_>) -> Heartbeat {
    Heartbeat {
        interval: reader.get("heartbeat", "interval", interval).flatten(),
        quiet: reader.get("heartbeat", "quiet_hours", quiet_hours).flatten(),
    }
}

/// Parses a cron expression; blank means never.
fn cron(text: &str) -> Result<Option<Cron>, ValueError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let fix = "write minute, hour, day of the month, month and day of the week, as \"30 3 * * *\", or \"\" for never";
    Cron::parse(text)
        .map(Some)
        .map_err(|error| ValueError::new(format!("{} is no schedule: {error}", quoted(text)), fix))
}

fn interval(text: &str) -> Result<Option<Duration>, ValueError> {
    if text == "0" {
        return Ok(None);
    }
    units::duration_within(text, Duration::from_mins(1), Duration::from_hours(24 * 7)).map(Some)
}

fn quiet_hours(text: &str) -> Result<Option<QuietHours>, ValueError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    parse_quiet_hours(text).map(Some).ok_or_else(|| {
        let fix = "write two local times, as \"22:00-07:00\", or \"\" for none";
        wrong(text, "is no span of hours", fix)
    })
}

const MEMORY: &str = "memory";
const EMBEDDING: &str = "embedding";

/// OpenAI's own server.
const OPENAI: &str = "https://api.openai.com/v1";
/// Default address of Ollama.
const OLLAMA: &str = "http://127.0.0.1:11434";

/// Interprets `[memory]`.
fn memory(reader: &mut ConfigReader<'_>) -> Memory {
    let mut count =
        |name: &str, least, most| reader.get(MEMORY, name, |text| small_count(text, least, most)).unwrap_or_default();
    let (extract_every, max_tokens, split) =
        (count("extract_every", 1, 1000), count("max_tokens", 0, 100_000), count("split", 5, 95));
    let placement = |text: &str| units::one_of(text, &[("tail", Placement::Tail), ("system", Placement::System)]);
    Memory {
        enabled: reader.get(MEMORY, "enabled", units::flag).unwrap_or_default(),
        placement: reader.get(MEMORY, "placement", placement).unwrap_or(Placement::Tail),
        extract_every,
        max_tokens: u64::from(max_tokens),
        split,
        experience_for_all: reader.get(MEMORY, "experience_for_all", units::flag).unwrap_or_default(),
    }
}

/// Interprets `[embedding]`.
fn embedding(reader: &mut ConfigReader<'_>) -> Option<Embedding> {
    let provider = reader.get(EMBEDDING, "provider", provider).flatten();
    let base_url = reader.get(EMBEDDING, "base_url", models::address);
    let dimensions = reader.get(EMBEDDING, "dimensions", |text| units::count(text, 8, 8192));
    let api_key = reader.secret(EMBEDDING, "api_key");
    models::warn_of_open_wire(reader, EMBEDDING, base_url.as_deref(), api_key.as_ref());
    let Some(provider) = provider else {
        // Reads the name anyway, so that an invalid one is reported.
        let _ = reader.get(EMBEDDING, "name", models::model_name);
        return None;
    };
    let name = reader.need(EMBEDDING, "name", models::model_name)?;
    let own = match provider {
        EmbeddingProvider::OpenAi => OPENAI,
        EmbeddingProvider::Ollama => OLLAMA,
    };
    Some(Embedding {
        provider,
        base_url: base_url.unwrap_or_else(|| own.to_owned()),
        name,
        dimensions: dimensions.and_then(|count| u32::try_from(count).ok()),
        api_key,
    })
}

fn provider(text: &str) -> Result<Option<EmbeddingProvider>, ValueError> {
    match text {
        "none" => Ok(None),
        "openai" => Ok(Some(EmbeddingProvider::OpenAi)),
        "ollama" => Ok(Some(EmbeddingProvider::Ollama)),
        _ => {
            let fix = "write \"none\", \"openai\" or \"ollama\"; \"openai\" fits any compatible server";
            Err(wrong(text, "computes no embeddings here", fix))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        assert_eq!(quiet_hours("22:00-07:00").unwrap(), Some((1320, 420)));
        assert_eq!(quiet_hours("").unwrap(), None);
        for text in ["22-7", "22:00", "25:00-07:00", "22:60-07:00", "07:00-07:00", "x:00-07:00"] {
            assert!(quiet_hours(text).is_err(), "{text}");
        }
    }

    #[test]
    fn never_can_be_said() {
        assert_eq!((interval("0").unwrap(), cron("").unwrap()), (None, None));
        assert!(interval("10s").is_err() && cron("61 * * * *").is_err());
    }
}
