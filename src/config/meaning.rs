//! Interprets the sheet section by section.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::error::ValueError;
use super::interpreter::Meaning;
use super::units::{self, quoted};
use super::{Agent, Budget, Config, Conversation, Limit, Person, Retention, Skills, Tools};
use super::{channels, knowledge, mcp, models, rhythm, suggest};
use crate::people::{Role, is_name};
use crate::time::Zone;

impl Meaning<'_> {
    /// Interprets the complete configuration. Values with faults are placeholders.
    pub fn config(&mut self) -> Config {
        let (zone, workspace) = (self.zone(), self.workspace());
        Config {
            zone,
            conversation: self.conversation(),
            model: models::model(self, "model"),
            fallback: models::optional_model(self, "model.fallback"),
            background: models::optional_model(self, "model.background"),
            transcription: models::transcription(self),
            budget: self.budget(),
            telegram: channels::telegram(self),
            signal: channels::signal(self),
            groups: channels::groups(self),
            people: self.people(),
            agent: self.agent(),
            memory: knowledge::memory(self),
            embedding: knowledge::embedding(self),
            tools: Tools { web_fetch: self.reader.get("tools", "web_fetch", units::flag).unwrap_or_default() },
            skills: self.skills(),
            mcp: mcp::servers(self, &workspace),
            workspace,
            reflection: rhythm::reflection(self),
            heartbeat: rhythm::heartbeat(self),
            retention: Retention {
                messages_days: self.reader.get("retention", "messages_days", days),
                attachments_days: self.reader.get("retention", "attachments_days", days),
                logs_days: self.reader.get("retention", "logs_days", days),
            },
            home: self.home.clone(),
        }
    }

    fn zone(&mut self) -> Zone {
        if !self.reader.is_written("", "timezone") {
            let warning = "timezone is not set, so days are counted in UTC; write timezone = \"Area/City\"";
            self.reader.warnings.push(warning.to_owned());
        }
        self.reader.get("", "timezone", zone).unwrap_or(Zone::UTC)
    }

    fn workspace(&mut self) -> PathBuf {
        self.folder("", "workspace")
    }

    fn skills(&mut self) -> Skills {
        let mut either = |name: &str, usual: &'static str, other: &'static str| {
            self.reader.get("skills", name, |text| choice(text, usual, other)).unwrap_or_default()
        };
        let reviewer_approves = either("review", "human", "ai");
        let tainted_is_rejected = either("tainted_review_mode", "human", "reject");
        let by_hand_is_live = either("by_hand", "hold", "live");
        Skills { dir: self.folder("skills", "dir"), reviewer_approves, tainted_is_rejected, by_hand_is_live }
    }

    fn conversation(&mut self) -> Conversation {
        let mut span = |name: &str, least: Duration, most: Duration| {
            let within = |text: &str| units::duration_within(text, least, most);
            self.reader.get("conversation", name, within).unwrap_or_default()
        };
        Conversation {
            gap: span("gap", Duration::from_mins(1), Duration::from_hours(7 * 24)),
            join_within: span("join_within", Duration::ZERO, Duration::from_secs(5)),
            max_turn: span("max_turn", Duration::from_secs(10), Duration::from_hours(24)),
        }
    }

    fn budget(&mut self) -> Budget {
        let daily = Limit {
            micros: self.reader.get("budget", "daily", above_zero(units::money)).unwrap_or_default(),
            tokens: self.reader.get("budget", "daily_tokens", above_zero(units::tokens)).unwrap_or_default(),
        };
        Budget {
            daily,
            per_person_daily: self.limit("per_person_daily", fifths(daily, 4)),
            per_group_daily: self.limit("per_group_daily", fifths(daily, 1)),
            background_daily: self.limit("background_daily", fifths(daily, 1)),
            owner_reserve: self.reader.get("budget", "owner_reserve", owner_reserve).unwrap_or_default(),
            tool_rounds: self.reader.get("budget", "tool_rounds", tool_rounds).unwrap_or_default(),
        }
    }

    fn limit(&mut self, name: &str, default: Limit) -> Limit {
        let show_money = |micros: &u64| units::show_money(*micros);
        let by_tokens = format!("{name}_tokens");
        Limit {
            micros: self.reader.get_or("budget", name, units::money, default.micros, show_money),
            tokens: self.reader.get_or("budget", &by_tokens, units::tokens, default.tokens, u64::to_string),
        }
    }

    fn people(&mut self) -> Vec<Person> {
        let (mut names, mut ids, mut accounts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut people = Vec::new();
        for at in self.reader.each("people") {
            let name = self.reader.need(&at, "name", |text| unique_name(text, &mut names));
            let role = self.reader.get(&at, "role", role);
            let telegram = self.reader.get(&at, "telegram", |text| unique_id(text, &mut ids));
            let signal = self.reader.get(&at, "signal", |text| channels::unique_account(text, &mut accounts));
            let prefer = self.reader.get(&at, "prefer", channels::adapter);
            people.extend(name.zip(role).map(|(name, role)| Person { name, role, telegram, signal, prefer }));
        }
        people
    }

    fn agent(&mut self) -> Agent {
        Agent {
            name: self.reader.get("agent", "name", name).unwrap_or_default(),
            profile: self.reader.get("agent", "profile", profile).unwrap_or_default(),
        }
    }
}

/// Returns `true` for `other` and `false` for `usual`.
fn choice(text: &str, usual: &'static str, other: &'static str) -> Result<bool, ValueError> {
    match text {
        text if text == usual => Ok(false),
        text if text == other => Ok(true),
        _ => Err(ValueError::new(
            format!("{} is not known here", quoted(text)),
            format!("write \"{usual}\" or \"{other}\""),
        )),
    }
}

fn zone(text: &str) -> Result<Zone, ValueError> {
    Zone::named(text).ok_or_else(|| {
        let fix = match suggest::nearest_zone(text) {
            Some(meant) => format!("write \"{meant}\", if that is what was meant"),
            None => "write an IANA zone, as \"Europe/Vienna\"".to_owned(),
        };
        ValueError::new(format!("There is no time zone {}", quoted(text)), fix)
    })
}

fn role(text: &str) -> Result<Role, ValueError> {
    text.parse::<Role>().ok().filter(|role| *role != Role::Guest).ok_or_else(|| {
        let what = format!("{} is no role that can be given", quoted(text));
        ValueError::new(what, "write \"owner\" (may do everything) or \"member\" (may chat)")
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
    Err(ValueError::new(format!("{} cannot be a name here", quoted(text)), fix))
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

fn fifths(daily: Limit, share: u64) -> Limit {
    let part = |whole: u64| (whole.saturating_mul(share) / 5).max(1);
    Limit { micros: part(daily.micros), tokens: part(daily.tokens) }
}

fn owner_reserve(text: &str) -> Result<u64, ValueError> {
    units::count(text, 0, 90)
}

fn tool_rounds(text: &str) -> Result<u32, ValueError> {
    Ok(u32::try_from(units::count(text, 1, 100)?).unwrap_or_default())
}

fn days(text: &str) -> Result<u32, ValueError> {
    Ok(u32::try_from(units::count(text, 1, 36_500)?).unwrap_or_default())
}
