//! People for owners: who has access, who wrote without it, codes for pairing, and one person with
//! what can be taken from them.
//!
//! Each change is the typed call that the command makes, with the signed-in owner as its giver.
//! Revoking and handing over have a page that names what happens; the form stands below it.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::LISTED;
use crate::admin::command::NameMeans;
use crate::admin::{
    Answer, CommandError, HandOverPlan, ListedPerson, PageRequest, Pairing, PairingCode, PeopleReport, PersonReport,
};
use crate::id::{AddressId, PersonId, StrangerId};
use crate::message::{ChannelKind, StartLink};
use crate::people::{Address, KnownAddress, Person, Role};
use crate::review::reveal::reveal;
use crate::store::{FormerPerson, Issuer, Stranger};
use crate::web::session::Owner;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, qr_svg, texts};
use crate::wording::page::people as says;
use crate::wording::{access, page};

/// Places in both lists.
#[derive(Deserialize)]
pub struct PeopleQuery {
    #[serde(default)]
    before: String,
    #[serde(default)]
    strangers: String,
}

/// A change of who has access.
#[derive(Deserialize)]
pub struct PeopleForm {
    act: PeopleAct,
    /// Number of the stranger, person or address.
    #[serde(default)]
    id: i64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    role: String,
    /// Person meant by a name: `new`, or the number of a removed person.
    #[serde(default)]
    means: String,
}

/// Kind of change.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PeopleAct {
    Pair,
    Admit,
    Ignore,
    Join,
    Apart,
}

/// A change of one person.
#[derive(Deserialize)]
pub struct PersonForm {
    act: PersonAct,
    /// Number of the address.
    #[serde(default)]
    id: i64,
}

/// Kind of that change.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PersonAct {
    Unlink,
    Remove,
    HandOver,
}

/// Lists people and strangers.
pub async fn list(
    Owner(visitor): Owner,
    (State(web), Query(PeopleQuery { before, strangers })): (State<Arc<Web>>, Query<PeopleQuery>),
) -> Response {
    let page = |place: &str| PageRequest { before: place.parse().ok(), limit: LISTED };
    let report = match web.admin.members().people(page(&before), page(&strangers)).await {
        Ok(report) => report,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        section {
            ol.rows { @for listed in &report.page.items { li { (row(listed, &visitor)) } } }
            @if let Some(next) = report.page.next { p { a.button rel="next" href={ "/people?before=" (next) } { "More people" } } }
        }
        (namesakes(&report))
        (pairing_form("", Role::Member))
        (strangers_markup(&report, &visitor))
    };
    layout::page(Some(&visitor), "/people", "People", main).into_response()
}

/// Changes who has access.
pub async fn change(Owner(visitor): Owner, (State(web), Form(form)): (State<Arc<Web>>, Form<PeopleForm>)) -> Response {
    let (members, issuer) = (web.admin.members(), Issuer::Person(visitor.person.id));
    let role = if form.role == Role::Owner.as_str() { Role::Owner } else { Role::Member };
    let name = form.name.trim();
    let done = match form.act {
        PeopleAct::Pair => return web.pair(&visitor, name, role, &form.means).await,
        // Without a name the command asks for one.
        PeopleAct::Admit if name.is_empty() => {
            return layout::message(Some(&visitor), StatusCode::UNPROCESSABLE_ENTITY, page::BAD_FORM);
        }
        PeopleAct::Admit => members.admit_stranger(issuer, StrangerId(form.id), name, role).await,
        PeopleAct::Ignore => members.ignore_stranger(StrangerId(form.id)).await,
        PeopleAct::Join => members.join_namesake(PersonId(form.id)).await,
        PeopleAct::Apart => members.mark_distinct(PersonId(form.id)).await,
    };
    told(&visitor, done)
}

/// Shows one person, and what revoking their access or handing over to them does.
pub async fn person(Owner(visitor): Owner, (State(web), Path(id)): (State<Arc<Web>>, Path<i64>)) -> Response {
    let report = match web.admin.members().person(PersonId(id)).await {
        Ok(Some(report)) => report,
        Ok(None) => return layout::message(Some(&visitor), StatusCode::NOT_FOUND, page::NOT_FOUND),
        Err(error) => return layout::failure(&error),
    };
    let person = &report.listed.person;
    let plan = match person.role {
        Role::Owner => match web.admin.members().hand_over_plan(&person.name).await {
            Ok(plan) => Some(plan),
            Err(CommandError::Refused(_)) => None,
            Err(CommandError::Failed(error)) => return layout::failure(&error),
        },
        _ => None,
    };
    let main = html! {
        (account(&report, &visitor))
        (removal(&report))
        @if let Some(plan) = &plan { (hand_over(plan, person.id)) }
        p { a href="/people" { "All people" } }
    };
    layout::page(Some(&visitor), "/people", &reveal(&person.name), main).into_response()
}

/// Changes one person.
pub async fn change_person(
    Owner(visitor): Owner,
    (State(web), Path(id), Form(form)): (State<Arc<Web>>, Path<i64>, Form<PersonForm>),
) -> Response {
    let members = web.admin.members();
    let found = match members.person(PersonId(id)).await {
        Ok(found) => found,
        Err(error) => return layout::failure(&error),
    };
    let Some(PersonReport { listed: ListedPerson { person, addresses, .. }, .. }) = found else {
        return layout::message(Some(&visitor), StatusCode::CONFLICT, page::people::GONE);
    };
    let done = match form.act {
        PersonAct::Unlink if !addresses.iter().any(|known| known.id == AddressId(form.id)) => {
            return layout::message(Some(&visitor), StatusCode::CONFLICT, page::people::ADDRESS_GONE);
        }
        PersonAct::Unlink => members.unlink(AddressId(form.id)).await,
        PersonAct::Remove => members.remove_by_id(person.id).await,
        PersonAct::HandOver => {
            let done = members.hand_over(&person.name, Some(visitor.person.id)).await;
            done.or_else(CommandError::into_answer)
        }
    };
    told(&visitor, done)
}

impl Web {
    async fn pair(&self, visitor: &Visitor, name: &str, role: Role, means: &str) -> Response {
        let means = match means {
            "" => None,
            "new" => Some(NameMeans::SomebodyNew),
            number => match number.parse() {
                Ok(number) => Some(NameMeans::Former(PersonId(number))),
                Err(_) => return layout::message(Some(visitor), StatusCode::UNPROCESSABLE_ENTITY, page::BAD_FORM),
            },
        };
        let issuer = Issuer::Person(visitor.person.id);
        match self.admin.members().pairing(issuer, name, role, means).await {
            Ok(Pairing::Code(code)) => code_page(visitor, "/people", &code),
            Ok(Pairing::SameOrNew(former)) => {
                let main = same_or_new(visitor, name, role, &former);
                layout::page(Some(visitor), "/people", &reveal(name), main).into_response()
            }
            Ok(Pairing::Refused(why)) => {
                let main = html! {
                    div.problem role="alert" { (render::markdown(&why.markdown, &why.label)) }
                    (pairing_form(name, role))
                };
                (StatusCode::CONFLICT, layout::page(Some(visitor), "/people", "People", main)).into_response()
            }
            Err(error) => layout::failure(&error),
        }
    }
}

/// Shows a code with what to do with it, as text and drawn.
pub fn code_page(visitor: &Visitor, path: &str, code: &PairingCode) -> Response {
    let (title, answer) = (format!("A code for {}", reveal(&code.name)), code.answer());
    let main = html! {
        p { (says::SHOWN_ONCE) }
        (render::markdown(&answer.markdown, &answer.label))
        @if let Some(StartLink::WithCode(link) | StartLink::Chat(link)) = &code.link { figure {
            (qr_svg::draw(link, &format!("QR code of {link}")))
            figcaption { (says::SCAN) }
        } }
        p { "It is valid until " (render::time(code.expires_at, visitor.zone, visitor.now)) "." }
        p { a href=(path) { "Back" } }
    };
    layout::page(Some(visitor), path, &title, main).into_response()
}

/// Shows the answer of a change.
fn told(visitor: &Visitor, done: anyhow::Result<Answer>) -> Response {
    let answer = match done {
        Ok(answer) => answer,
        Err(error) => return layout::failure(&error),
    };
    let status = if answer.failed { StatusCode::CONFLICT } else { StatusCode::OK };
    let main = html! {
        div.problem[answer.failed] role=(if answer.failed { "alert" } else { "status" }) {
            (render::markdown(&answer.markdown, &answer.label))
        }
        p { a href="/people" { "All people" } }
    };
    (status, layout::page(Some(visitor), "/people", "People", main)).into_response()
}

/// The name of a channel with the address there.
fn address_markup(address: &Address) -> Markup {
    let channel = address.adapter.parse::<ChannelKind>().map_or("Elsewhere", ChannelKind::title);
    html! { (channel) @if !ChannelKind::is_attended(&address.adapter) { " " bdi { (reveal(&address.peer)) } } }
}

/// Renders addresses in one line.
pub fn addresses_markup(addresses: &[KnownAddress]) -> Markup {
    html! {
        @if addresses.is_empty() { (says::NO_ADDRESS) }
        @for (at, known) in addresses.iter().enumerate() { @if at > 0 { " · " } (address_markup(&known.address)) }
    }
}

fn row(listed: &ListedPerson, visitor: &Visitor) -> Markup {
    html! {
        a.title href={ "/people/" (listed.person.id) } { bdi { (reveal(&listed.person.name)) } }
        p.facts { (facts(listed, visitor)) }
        p.facts { (addresses_markup(&listed.addresses)) }
    }
}

fn facts(listed: &ListedPerson, visitor: &Visitor) -> Markup {
    html! {
        (listed.person.role.as_str()) ", " (if listed.paired { "by pairing" } else { "from the configuration" })
        @if let Some(since) = listed.since { " · known since " (render::time(since, visitor.zone, visitor.now)) }
        @match listed.last_heard {
            Some(at) => { " · last wrote " (render::time(at, visitor.zone, visitor.now)) }
            None => " · never wrote"
        }
    }
}

fn role_choice(chosen: Role) -> Markup {
    html! { label { "Role" select name="role" { @for role in [Role::Member, Role::Owner] {
        option value=(role.as_str()) selected[role == chosen] { (role.as_str()) }
    } } } }
}

fn pairing_form(name: &str, role: Role) -> Markup {
    html! { section {
        h2 { "Let someone in" }
        p { (says::HOW_PAIRING_WORKS) }
        form method="post" action="/people" autocomplete="off" {
            label { "Name" input name="name" value=(name) maxlength="40" required; }
            (role_choice(role))
            button type="submit" name="act" value="pair" { "Make a code" }
        }
    } }
}

fn same_or_new(visitor: &Visitor, name: &str, role: Role, former: &[FormerPerson]) -> Markup {
    let answer = |means: &str, title: &str| {
        html! { form.inline method="post" action="/people" {
            input type="hidden" name="act" value="pair";
            input type="hidden" name="name" value=(name);
            input type="hidden" name="role" value=(role.as_str());
            button type="submit" name="means" value=(means) { (title) }
        } }
    };
    html! {
        p { (says::same_or_new(name)) }
        @for person in former {
            @let (since, until) = (visitor.zone.day(person.since), visitor.zone.day(person.until));
            (answer(&person.id.to_string(), &says::same_person(person.role.as_str(), &since, &until)))
        }
        (answer("new", access::SOMEBODY_NEW))
        p { a href="/people" { "All people" } }
    }
}

fn namesakes(report: &PeopleReport) -> Markup {
    let question = |person: &Person| {
        html! {
            p { (says::same_as_earlier(&person.name)) }
            form.inline method="post" action="/people" {
                input type="hidden" name="id" value=(person.id);
                button type="submit" name="act" value="join" { (access::SAME_PERSON) } " "
                button type="submit" name="act" value="apart" { (access::SOMEBODY_NEW) }
            }
        }
    };
    html! { @for person in &report.namesakes { section { (question(person)) } } }
}

fn strangers_markup(report: &PeopleReport, visitor: &Visitor) -> Markup {
    let stranger = |stranger: &Stranger| {
        html! {
            (texts::name(&stranger.name))
            p.facts {
                (address_markup(&stranger.address)) " · " (says::times(stranger.count)) " · last "
                (render::time(stranger.last_at, visitor.zone, visitor.now))
            }
            form method="post" action="/people" autocomplete="off" {
                input type="hidden" name="id" value=(stranger.id);
                label { "Name" input name="name" maxlength="40"; }
                (role_choice(Role::Member))
                button type="submit" name="act" value="admit" { (access::LET_IN) } " "
                button type="submit" name="act" value="ignore" { (access::IGNORE) }
            }
        }
    };
    html! { section {
        h2 { "Without access" }
        @if report.strangers.0.items.is_empty() { p { (says::NOBODY_KNOCKED) } } @else { p { (says::ANYONE_TAKES_ANY_NAME) } }
        ol.rows { @for one in &report.strangers.0.items { li { (stranger(one)) } } }
        @if let Some(next) = report.strangers.0.next { p { a.button rel="next" href={ "/people?strangers=" (next) } { "More" } } }
    } }
}

fn account(report: &PersonReport, visitor: &Visitor) -> Markup {
    let PersonReport { listed, groups, .. } = report;
    html! {
        p.facts { (facts(listed, visitor)) }
        section {
            h2 { "Addresses" }
            @if listed.addresses.is_empty() { p { (says::NO_ADDRESS) } }
            ul { @for known in &listed.addresses { li {
                (address_markup(&known.address)) " "
                form.inline method="post" action={ "/people/" (listed.person.id) } {
                    input type="hidden" name="act" value="unlink";
                    button type="submit" name="id" value=(known.id) { "Unlink" }
                }
            } } }
        }
        @if !groups.is_empty() { section {
            h2 { "Groups with their latest messages" }
            ul { @for group in groups { li { (address_markup(group)) } } }
        } }
    }
}

fn hand_over(plan: &HandOverPlan, person: PersonId) -> Markup {
    let HandOverPlan { from, to, from_folder, new_owner_folder } = plan;
    html! { section {
        h2 { "Hand over the workspace" }
        p { (access::hand_over_head(from, to)) }
        ul { @for effect in access::hand_over_effects(from, to, from_folder, new_owner_folder) { li { (effect) } } }
        p { (access::HAND_OVER_KEEPS) " " (says::BOTH_WAIT) }
        form method="post" action={ "/people/" (person) } { button type="submit" name="act" value="handover" { "Hand over to " (to) } }
    } }
}

fn removal(report: &PersonReport) -> Markup {
    let person = &report.listed.person;
    html! { section {
        h2 { (says::REMOVE) }
        @match &report.obstacle {
            Some(why) => p { (why) },
            None => {
                p { (says::removal(&person.name, report.browsers)) }
                p { (says::HOW_TO_FORGET) }
                form method="post" action={ "/people/" (person.id) } { button type="submit" name="act" value="remove" { "Revoke the access of " (person.name) } }
            }
        }
    } }
}
