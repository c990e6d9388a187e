//! The pages, one file for each that is more than the answer of a command, and the routes to them.

mod away; // where a link leads
mod conversations; // the list, and one of them
mod me; // the person's own browsers and settings
mod report; // the answer of a command, as a page
mod usage; // use and cost of the models

use axum::routing::{get, post};

use super::routes::Routes;
use super::{assets, sign_in, state};
use report::{member_report, owner_report};

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
        .get("/", member_report(&["/pending", "/reminders"], "/", "Today"))
        .get("/conversations", conversations::list)
        .get("/memory", member_report(&["/memory"], "/memory", "Memory"))
        .get("/schedule", member_report(&["/reminders"], "/schedule", "Schedule"))
        .get("/usage", usage::usage)
        .get("/skills", owner_report(&["/skills", "/pending"], "/skills", "Skills"))
        .get("/reflections", owner_report(&["/reflections"], "/reflections", "Reflections"))
        .get("/people", owner_report(&["/people"], "/people", "People"))
        .get("/models", owner_report(&["/model"], "/models", "Tools and models"))
        .get("/status", owner_report(&["/status"], "/status", "Status"))
        .get("/conversations/{id}", conversations::conversation)
        .get("/memory/{note}", report::note)
        .get("/proposals/{id}", report::proposal)
        .get("/search", report::search)
        .post("/act", report::act)
        .get("/away", away::away)
        .get("/me", me::me)
        .post("/me/display", me::set_display)
        .post("/me/browsers/end", me::end_browser)
        .post("/me/browsers/end-all", me::end_all)
}
