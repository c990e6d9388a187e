//! A new note: a name and a text, which stays in the form until it is saved.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::memory::address;
use crate::admin::{CommandError, NoteEdit};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::memory as says;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 120;

/// A new note.
#[derive(Deserialize)]
pub struct NewNote {
    #[serde(default)]
    name: String,
    #[serde(default)]
    text: String,
}

/// Shows the form.
pub async fn form(Member(visitor): Member, State(_): State<Arc<Web>>) -> Response {
    layout::page(Some(&visitor), "/memory", "New note", fields(&NewNote { name: String::new(), text: String::new() }))
        .into_response()
}

/// Stores a note, unless one of that name exists.
pub async fn add(Member(visitor): Member, (State(web), Form(new)): (State<Arc<Web>>, Form<NewNote>)) -> Response {
    if new.text.trim().is_empty() {
        return refused(&visitor, html! { (says::NOTE_WITHOUT_TEXT) }, &new);
    }
    let files = web.admin.memory_files();
    match files.save_note(&visitor.person, new.name.trim(), None, "", &new.text).await {
        Ok(NoteEdit::Saved(file)) => Redirect::to(&address(&file.path)).into_response(),
        Ok(NoteEdit::Conflict(Some(file))) => {
            let there =
                html! { (says::NAME_IS_TAKEN) " " a href=(address(&file.path)) { bdi { (file.visible_path()) } } };
            refused(&visitor, there, &new)
        }
        Ok(NoteEdit::Conflict(None)) => refused(&visitor, html! { (says::GONE_MEANWHILE) }, &new),
        Ok(NoteEdit::Refused(why)) => refused(&visitor, render::markdown(&why.markdown, &why.label), &new),
        Err(CommandError::Refused(why)) => refused(&visitor, render::markdown(&why.markdown, &why.label), &new),
        Err(CommandError::Failed(error)) => {
            layout::save_failure(&visitor, "/memory", "New note", &error, &fields(&new))
        }
    }
}

fn refused(visitor: &Visitor, why: Markup, new: &NewNote) -> Response {
    let main = html! { div.problem role="alert" { (why) } (fields(new)) };
    (StatusCode::CONFLICT, layout::page(Some(visitor), "/memory", "New note", main)).into_response()
}

fn fields(new: &NewNote) -> Markup {
    html! {
        p { (says::ABOUT_NEW_NOTES) }
        form.wide method="post" action="/new-note" {
            p { (says::YOUR_HAND) }
            label { "Name" input name="name" value=(new.name) maxlength=(MAX_NAME) required; }
            label { "Text" (texts::typed_field("text", &new.text)) }
            button type="submit" { "Save" } " "
            a.button href="/memory" { "Cancel" }
        }
    }
}
