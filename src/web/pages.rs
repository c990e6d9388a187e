//! The pages, one file for each that is more than the answer of a command, and the routes to them.

mod agenda; // the day, the week, and the schedule
mod away; // where a link leads
mod chat; // the chat
mod chat_files; // files of messages
mod chat_form; // a message as its form sends it
mod conversations; // the list, and one of them
mod files; // folders, one file, and its bytes
mod help; // keys and commands
mod me; // the person's own browsers and settings
mod memory; // what is kept about the visitor
mod models; // models and outside tools
mod new_note; // a note that is written on the page
mod note; // one note and its versions
mod people; // who has access
mod proposals; // proposals and decisions about them
mod reflections; // reflections and their outcomes
mod report; // the answer of a command
mod search; // the search
mod skills; // skills and their versions
mod status; // findings, numbers, health, backups, log
mod upload; // files for the inbox
mod today; // the start page
mod usage; // use and cost of the models

use axum::routing::{get, post};

use super::routes::Routes;
use super::{assets, sign_in, state};

/// Number of items of a page of a list.
const LISTED: u32 = 50;

/// Returns all routes.
pub fn all() -> Routes {
    Routes::default()
        .open("GET", "/health", get(state::health))
        .open("GET", "/metrics", get(state::metrics))
        .open("GET", "/assets/{digest}/{name}", get(assets::asset))
        .open("GET", "/login", get(sign_in::form))
        .open("POST", "/login", post(sign_in::sign_in))
        .open("POST", "/login/person", post(sign_in::person))
        .post("/sign-out", sign_in::sign_out)
        .get("/", today::today)
        .post("/seen", today::seen)
        .get("/schedule", agenda::schedule)
        .get("/chat", chat::chat)
        .receive("/chat", chat::say)
        .get("/chat/messages", chat::fragment)
        .get("/chat/files/{part}", chat_files::file)
        .get("/chat/events", chat::events)
        .get("/conversations", conversations::list)
        .get("/usage", usage::usage)
        .get("/conversations/{id}", conversations::conversation)
        .get("/files", files::root)
        .receive("/files", upload::upload)
        .get("/files/{*path}", files::at)
        .post("/files/{*path}", files::restore)
        .get("/raw/{*path}", files::raw)
        .post("/file-health", files::health)
        .get("/deleted-files", files::deleted)
        .get("/memory", memory::memory)
        .post("/memory", memory::switch)
        .get("/new-note", new_note::form)
        .post("/new-note", new_note::add)
        .get("/memory/{*note}", note::note)
        .post("/memory/{*note}", note::change)
        .get("/proposals", proposals::list)
        .get("/proposals/{id}", proposals::proposal)
        .post("/proposals/{id}/approve", proposals::approve)
        .post("/proposals/{id}/refuse", proposals::refuse)
        .get("/skills", skills::list)
        .get("/skills/{name}", skills::skill)
        .post("/skills/{name}/restore", skills::restore)
        .get("/search", search::search)
        .get("/reflections", reflections::list)
        .get("/reflections/{id}", reflections::reflection)
        .get("/models", models::models)
        .post("/models/prefer", models::prefer)
        .post("/models/accept", models::accept)
        .get("/status", status::status)
        .post("/status/check", status::check)
        .get("/status/log", status::log)
        .get("/people", people::list)
        .post("/people", people::change)
        .get("/people/{id}", people::person)
        .post("/people/{id}", people::change_person)
        .post("/act", report::act)
        .get("/away", away::away)
        .get("/help", help::help)
        .get("/me", me::me)
        .post("/me/display", me::set_display)
        .post("/me/browsers/end", me::end_browser)
        .post("/me/browsers/end-all", me::end_all)
        .post("/me/link", me::link)
        .post("/me/settings", me::set)
        .post("/me/export", me::export)
}
