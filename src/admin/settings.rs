//! `/settings`: the language and time zone that a person chose.

use serde_json::{Value, json};

use super::PeopleAdmin;
use super::answer::{Answer, Render, RenderContext, ShownLabel, plain};
use super::command::SettingChange;
use crate::config::nearest_zone;
use crate::people::Person;
use crate::time::{Timestamp, Zone};
use crate::wording::{Language, settings as says};

/// Word that ends a choice.
const AUTO: &str = "auto";

/// Commands that have a button below the settings.
const ELSEWHERE: [&str; 4] = ["whoami", "link", "usage", "export"];

/// The settings of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsReport {
    /// Language of the chats.
    pub language: Language,
    zone: Zone,
    now: Timestamp,
}

impl PeopleAdmin<'_> {
    /// Returns the settings of a person.
    pub async fn settings(&self, person: &Person) -> anyhow::Result<SettingsReport> {
        let (id, home, now) = (person.id, self.zone, self.clock.now());
        let read = move |db: crate::store::Db<'_>| Ok((db.people().language_of(id)?, db.people().zone_of(id, home)?));
        let (language, zone) = self.journal.read(read).await?;
        Ok(SettingsReport { language, zone, now })
    }

    /// Changes a setting of a person who is addressed in the language `before`. The answer is in
    /// the language that it leaves.
    pub async fn change_setting(
        &self,
        person: &Person,
        change: &SettingChange,
        before: Language,
    ) -> anyhow::Result<Answer> {
        match change {
            SettingChange::Language(word) => {
                let chosen = language_of(word);
                if chosen.is_none() && word != AUTO {
                    return Ok(Answer::refusal(says::no_such_language(before, &plain(word))));
                }
                let id = person.id;
                self.journal.write("choose a language", move |tx| tx.people().choose_language(id, chosen)).await?;
            }
            SettingChange::Zone(word) => {
                let chosen = Zone::named(word);
                if chosen.is_none() && word != AUTO {
                    return Ok(Answer::refusal(says::no_such_zone(before, &plain(word), nearest_zone(word))));
                }
                let id = person.id;
                self.journal.write("choose a time zone", move |tx| tx.people().choose_zone(id, chosen)).await?;
                // Recurring reminders come at these times by the new clock.
                self.engine.wake_schedule();
            }
        }
        let SettingsReport { language, zone, now } = self.settings(person).await?;
        let done = match change {
            SettingChange::Language(_) => says::language_chosen(language),
            SettingChange::Zone(_) => says::zone_chosen(language, zone, now),
        };
        Ok(Answer::ours(done, json!({ "language": language.code(), "timezone": zone.name() })))
    }
}

/// Returns the language of a code, or of its own name.
fn language_of(word: &str) -> Option<Language> {
    let is_name = |language: &Language| language.name().to_lowercase() == word.to_lowercase();
    Language::named(word).or_else(|| Language::all().find(is_name))
}

impl Render for SettingsReport {
    fn markdown(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        says::settings(self.language, self.zone, self.now)
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        json!({ "language": self.language.code(), "timezone": self.zone.name() })
    }

    fn buttons(&self, _: &RenderContext<'_>) -> Vec<(String, String)> {
        let others = Language::all().filter(|language| *language != self.language);
        let others = others.map(|language| (language.name(), format!("/settings language {language}")));
        let elsewhere = ELSEWHERE.map(|command| (says::button(self.language, command), format!("/{command}")));
        others.chain(elsewhere).collect()
    }
}
