//! Input for a reflection on a day, a week or a month.
//!
//! The input holds the trusted projection, numbers that the program counted, and the outcome of
//! earlier proposals; nothing with untrusted content. A day is covered by its conversations; a week
//! by its days' reflections, and by the conversations of the days without one; a month by its
//! weeks' reflections, by those of the days since its last week, and, if a week has none, by those of
//! its days. So no conversation is skipped. A reflection with untrusted content is only named.

use super::transcript::{self, Names, ReflectionText, Window, fit};
use super::{Job, open_items, render};
use crate::store::{Db, Node, ReflectionRow, SlotRow};
use crate::time::{Period, Span, Timestamp, Zone};
use crate::trust::{Label, Scope, Text};
use crate::wording::{self, reflection as says};

/// Share of the input for messages that the person did not ask for, as a divisor.
const SENT_DIVISOR: u64 = 6;

/// A skill as described in the input.
#[derive(Debug, Clone)]
pub struct KnownSkill {
    /// Name of the skill.
    pub name: String,
    /// Description by the skill itself.
    pub description: String,
    /// Label of the description.
    pub label: Label,
    /// Source of the description.
    pub source: Node,
}

/// Data for building the input.
#[derive(Debug, Clone)]
pub struct InputRequest {
    /// Slot of the reflection.
    pub slot: SlotRow,
    /// Day, week or month.
    pub job: Job,
    /// Person that the reflection is for.
    pub person: crate::people::Person,
    /// Time zone.
    pub zone: Zone,
    /// Available tools.
    pub tools: Vec<String>,
    /// Available skills without untrusted content.
    pub skills: Vec<KnownSkill>,
    /// Maximum number of tokens.
    pub budget: u64,
}

/// Input of the assistant.
#[derive(Debug)]
pub struct Input {
    /// Parts of the input.
    pub texts: Vec<Text>,
    /// Sources of the parts.
    pub sources: Vec<Node>,
}

/// Material for a reflection.
#[derive(Debug)]
pub struct ReflectionInput {
    /// Reflections on shorter periods, oldest first.
    earlier: Vec<ReflectionRow>,
    /// Period whose conversations are covered where no reflection has done so.
    window: Window,
}

impl InputRequest {
    /// Returns the material; `None` if it is too little to ask a model.
    pub fn material(&self, db: Db<'_>, min_messages: u32) -> anyhow::Result<Option<ReflectionInput>> {
        let (scope, person) = (self.slot.scope, self.person.id);
        let (from, to) = self.covered_period();
        let earlier = match self.job {
            Job::Daily => Vec::new(),
            Job::Weekly => db.reflections().reflections_within(scope, Job::Daily.as_str(), from, to)?,
            Job::Monthly => of_a_month(db, scope, from, to)?,
        };
        let said = db.activity().messages_between(person, from, to)?.len();
        let too_little = earlier.is_empty() && said < usize::try_from(min_messages).unwrap_or(usize::MAX);
        Ok((!too_little).then_some(ReflectionInput { earlier, window: Window { person, from, to } }))
    }

    /// Returns the covered period. A week belongs to the month of its last day, so a month begins with
    /// a whole week. Its last days, of a week that is not over, are in the next month once more.
    fn covered_period(&self) -> (Timestamp, Timestamp) {
        let (from, to) = (self.slot.from, self.slot.to);
        match self.job {
            Job::Daily | Job::Weekly => (from, to),
            Job::Monthly => (Period::containing(Span::Week, from, self.zone).begins(self.zone), to),
        }
    }

    /// Builds the whole input.
    pub fn input(&self, db: Db<'_>, material: &ReflectionInput) -> anyhow::Result<Input> {
        let scope = self.slot.scope;
        let task = wording::own(says::task(&self.period_in_words(), &self.person.name), scope);
        let pages = [self.numbers(db)?, self.last_time(db)?, self.periods(db, material)?, self.catalogue(db)?];
        let (mut texts, mut sources) = (vec![task], Vec::new());
        for (text, nodes) in pages.into_iter().flatten().map(|page| page.finish(scope)) {
            // All of it is trusted by the way it was chosen. If a bug ever lets anything else in,
            // it is left out here.
            if text.label().is_trusted() {
                texts.push(text);
                sources.extend(nodes);
            } else {
                tracing::error!(slot.id = %self.slot.id, "Slot {}: text from outside was left out", self.slot.id);
            }
        }
        Ok(Input { texts, sources })
    }

    fn period_in_words(&self) -> String {
        let (period, zone) = (self.slot.period.as_str(), self.zone);
        match self.job {
            Job::Daily => says::a_day(period, zone.name()),
            Job::Monthly => says::a_month(period, zone.name()),
            Job::Weekly => {
                let last = Timestamp(self.slot.to.0.saturating_sub(1));
                says::a_week(period, &zone.day(self.slot.from), &zone.day(last), zone.name())
            }
        }
    }

    fn numbers(&self, db: Db<'_>) -> anyhow::Result<Option<ReflectionText>> {
        let window = Window { person: self.person.id, from: self.slot.from, to: self.slot.to };
        let skills = self.skills.iter().map(|skill| skill.name.clone()).collect();
        let names = Names { tools: self.tools.clone(), skills };
        let mut page = ReflectionText::blank();
        page.push(&transcript::numbers(db, window, &self.slot.period, &names)?);
        Ok(Some(page))
    }

    fn last_time(&self, db: Db<'_>) -> anyhow::Result<Option<ReflectionText>> {
        let before = db.reflections().reflection_before(self.slot.scope, &self.slot.job, self.slot.id, self.slot.to)?;
        let Some(before) = before else { return Ok(None) };
        let actions = db.reflections().actions_of(before.id)?;
        if actions.is_empty() {
            return Ok(None);
        }
        let mut page = ReflectionText::blank();
        page.push(&says::last_time(&before.period));
        for action in &actions {
            let kind = action.kind.as_str();
            if action.label.is_trusted() {
                let became = says::became(kind, Some(&action.title), &render::describe(db, action)?);
                page.push_quote(&became, &action.label);
                page.add_sources(&[Node::Message(before.message)]);
            } else {
                page.push(&says::became(kind, None, &render::describe_without_reason(db, action)?));
            }
        }
        Ok(Some(page))
    }

    fn periods(&self, db: Db<'_>, material: &ReflectionInput) -> anyhow::Result<Option<ReflectionText>> {
        let mut page = ReflectionText::blank();
        let covered: Vec<_> = material.earlier.iter().map(|earlier| (earlier.from, earlier.to)).collect();
        let conversations = transcript::between(db, material.window, &covered, self.zone)?;
        let for_conversations = if material.earlier.is_empty() { self.budget } else { self.budget / 3 };
        if !material.earlier.is_empty() {
            page.push(says::EARLIER);
            earlier(db, &mut page, &material.earlier, self.budget - for_conversations)?;
        }
        let heading = if self.job == Job::Daily { says::CONVERSATIONS } else { says::HANDED_ON };
        if !conversations.is_empty() || material.earlier.is_empty() {
            page.push(heading);
        }
        transcript::render_lines(db, &mut page, &conversations, self.zone, for_conversations)?;
        if self.job == Job::Daily {
            transcript::render_sent(db, &mut page, material.window, self.zone, self.budget / SENT_DIVISOR)?;
        }
        let said: Vec<String> = conversations.iter().flat_map(|one| one.texts()).map(str::to_owned).collect();
        open_items::render(db, &mut page, material.window, &said, self.zone)?;
        if conversations.is_empty() && material.earlier.is_empty() {
            page.push(says::NO_TALK);
        }
        Ok(Some(page))
    }

    /// Lists the skills, once a month.
    fn catalogue(&self, db: Db<'_>) -> anyhow::Result<Option<ReflectionText>> {
        if self.job != Job::Monthly || self.skills.is_empty() {
            return Ok(None);
        }
        let used = db.activity().skills_between(self.slot.scope, self.slot.from, self.slot.to)?;
        let mut page = ReflectionText::blank();
        page.push(says::CATALOGUE);
        for skill in &self.skills {
            let times = used.iter().find(|used| used.skill == skill.name).map_or(0, |used| used.times);
            page.push_quote(&says::skill(&skill.name, &skill.description, times), &skill.label);
            page.add_sources(&[skill.source]);
        }
        Ok(Some(page))
    }
}

/// Reflections on a month's weeks, and on the days that none of these covers.
fn of_a_month(db: Db<'_>, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<ReflectionRow>> {
    let mut found = db.reflections().reflections_within(scope, Job::Weekly.as_str(), from, to)?;
    let days = db.reflections().reflections_within(scope, Job::Daily.as_str(), from, to)?;
    let is_covered = |day: &ReflectionRow| found.iter().any(|week| week.from <= day.from && day.to <= week.to);
    let (_, days): (Vec<_>, Vec<_>) = days.into_iter().partition(is_covered);
    found.extend(days);
    found.sort_by_key(|reflection| reflection.to);
    Ok(found)
}

fn earlier(db: Db<'_>, page: &mut ReflectionText, reflections: &[ReflectionRow], budget: u64) -> anyhow::Result<()> {
    let each = budget / u64::try_from(reflections.len().max(1)).unwrap_or(u64::MAX);
    for reflection in reflections {
        let texts = db.messages().texts_of(reflection.message)?;
        let clean = reflection.label.is_trusted() && texts.iter().all(|text| text.text.label().is_trusted());
        if !clean {
            page.push(&says::earlier_from_outside(&reflection.period));
            continue;
        }
        page.add_sources(&[Node::Message(reflection.message)]);
        for text in texts {
            let (words, label, _) = text.text.open();
            let mut excerpt = fit(words, each);
            if excerpt.len() < words.len() {
                excerpt.push('\n');
                excerpt.push_str(says::CUT);
            }
            page.push_quote(&says::earlier(&reflection.period, &excerpt), label);
        }
    }
    Ok(())
}
