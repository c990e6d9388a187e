//! The visitor's files: a folder with its totals, one file with what can be shown of it, and the
//! bytes of a file.
//!
//! Only pictures are shown as they are, judged by their first bytes; of anything else the page
//! shows text, or offers it for download. The bytes come from a route of their own, under a policy
//! that lets nothing in them run.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use axum::response::{IntoResponse, Redirect, Response};
use futures::stream::try_unfold;
use maud::{Markup, html};
use serde::Deserialize;
use tokio::io::AsyncReadExt;

use super::report;
use crate::admin::{FilesReport, FilesRequest};
use crate::engine::files::MAX_FILE;
use crate::id::FileId;
use crate::memory::{
    AccessError, AccessRefusal, Browsed, FileOrder, FileProblem, FileTotals, FolderItem, FolderNode, FolderPage,
    FolderPart, FolderTree, OpenedFile,
};
use crate::message::file_type;
use crate::review::reveal::reveal;
use crate::store::FileRow;
use crate::web::session::Member;
use crate::web::texts::FileView;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::Language;
use crate::wording::memory as words;
use crate::wording::page as says;

/// Number of items of a page.
const LISTED: usize = 50;
/// Maximum size of a text that is shown whole, in bytes.
const MAX_TEXT: u64 = 100_000;
/// Maximum size of a picture that is shown, in bytes.
const MAX_PICTURE: u64 = 20_000_000;
/// Number of bytes of a file that are read at once.
const CHUNK: u64 = 64 << 10;

/// Place in a folder, or the form in which a file is shown.
#[derive(Deserialize)]
pub struct FilesQuery {
    #[serde(default)]
    after: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    view: String,
    /// Line around which the text is shown.
    line: Option<usize>,
    version: Option<i64>,
}

/// A version to restore.
#[derive(Deserialize)]
pub struct RestoreForm {
    version: i64,
}

/// A request for the check.
#[derive(Deserialize)]
pub struct HealthForm {
    /// A note to which a line in `MEMORY.md` is added before; blank for none.
    #[serde(default)]
    note: String,
}

/// Shows the visitor's whole folder.
pub async fn root(
    Member(visitor): Member,
    (State(web), Query(query)): (State<Arc<Web>>, Query<FilesQuery>),
) -> Response {
    web.files(&visitor, String::new(), query).await
}

/// Shows which of the visitor's files need a look, and what to do.
pub async fn health(
    Member(visitor): Member,
    (State(web), Form(HealthForm { note })): (State<Arc<Web>>, Form<HealthForm>),
) -> Response {
    if !note.is_empty() {
        match web.admin.memory_files().list_note(&visitor.person, &note).await {
            Ok(true) => {}
            Ok(false) => return layout::message(Some(&visitor), StatusCode::CONFLICT, says::NO_LINE_ADDED),
            Err(error) => return layout::failure(&error),
        }
    }
    let problems = match web.admin.memory_files().file_problems(&visitor.person, LISTED).await {
        Ok(problems) => problems,
        Err(error) => return layout::failure(&error),
    };
    let folders = match web.admin.memory_files().usual_folders(&visitor.person).await {
        Ok(folders) => folders,
        Err(error) => return layout::failure(&error),
    };
    let missing: Vec<&str> = folders.iter().filter(|(_, exists)| !exists).map(|(name, _)| *name).collect();
    let main = html! {
        p { @if missing.is_empty() { (says::FOLDERS_EXIST) } @else { (says::folders_missing(&missing)) } }
        @if problems.is_empty() { p { (says::FILES_ARE_FINE) } } @else { ul { @for (path, problem) in &problems { li {
            // Files next to the workspace have no page.
            @if path.starts_with('/') { bdi { (reveal(path.trim_start_matches('/'))) } }
            @else { a href=(render::path("/files", path)) { bdi { (reveal(path)) } } }
            ": " (what_to_do(*problem))
            @if *problem == FileProblem::Unlisted { form.inline method="post" action="/file-health" {
                " " button type="submit" name="note" value=(path) aria-label={ "Add the line of " (reveal(path)) } { "Add the line" }
            } }
        } } } }
        @if problems.len() >= LISTED { p { (says::MORE_PROBLEMS) } }
        p { a href="/files" { "Back to the files" } }
    };
    layout::page(Some(&visitor), "/files", "Health of your files", main).into_response()
}

/// Lists the visitor's deleted files that can be restored.
pub async fn deleted(
    Member(visitor): Member,
    (State(web), Query(query)): (State<Arc<Web>>, Query<FilesQuery>),
) -> Response {
    let found = web.admin.memory_files().deleted_files(&visitor.person, &query.after, LISTED).await;
    let (files, next) = match found {
        Ok(found) => found,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        @if files.is_empty() { p { (says::NO_DELETED_FILES) } }
        ol.rows { @for file in &files { li {
            a.title href=(render::path("/files", &file.path)) { bdi { (reveal(&file.path)) } }
            p.facts { "Last version: " (version_facts(file, &visitor)) }
            (texts::sources(&file.label))
        } } }
        @if let Some(next) = next { p { a.button rel="next" href={ "/deleted-files?after=" (render::encoded(&next)) } { "More" } } }
        p { a href="/files" { "Back to the files" } }
    };
    layout::page(Some(&visitor), "/files", "Deleted files that can be restored", main).into_response()
}

/// Shows a folder or a file.
pub async fn at(
    Member(visitor): Member,
    (State(web), Path(path), Query(query)): (State<Arc<Web>>, Path<String>, Query<FilesQuery>),
) -> Response {
    web.files(&visitor, path, query).await
}

/// Restores a version of a file.
pub async fn restore(
    Member(visitor): Member,
    (State(web), Path(path), Form(form)): (State<Arc<Web>>, Path<String>, Form<RestoreForm>),
) -> Response {
    let files = web.admin.memory_files();
    match files.restore_file(&visitor.person, &path, FileId(form.version), visitor.surface()).await {
        Ok(answer) if answer.failed => report::told(&visitor, "/files", &answer),
        Ok(_) => Redirect::to(&render::path("/files", &path)).into_response(),
        Err(error) => layout::failure(&error),
    }
}

/// Serves the bytes of a file: a picture to be shown, anything else to be stored.
pub async fn raw(Member(visitor): Member, (State(web), Path(path)): (State<Arc<Web>>, Path<String>)) -> Response {
    web.download(&visitor, &path).await
}

impl Web {
    /// Serves the bytes of one of the visitor's files.
    pub(super) async fn download(&self, visitor: &Visitor, path: &str) -> Response {
        match self.admin.memory_files().open_file(&visitor.person, path).await {
            Ok(file) => bytes_of(file),
            Err(error) => refusal(visitor, error),
        }
    }

    async fn files(&self, visitor: &Visitor, path: String, query: FilesQuery) -> Response {
        let FilesQuery { after, sort, view, line, version } = query;
        let (order, version) = (sort.parse().unwrap_or_default(), version.map(FileId));
        let request = FilesRequest { path, part: FolderPart { order, after, limit: LISTED } };
        let found = match self.admin.memory_files().browse(&visitor.person, &request).await {
            Ok(FilesReport(found)) => Some(found),
            Err(AccessError::Refused(AccessRefusal::Missing)) => None,
            Err(error) => return refusal(visitor, error),
        };
        let (path, main) = match &found {
            Some(Browsed::Folder(folder)) => (&folder.path, Ok(folder_markup(folder, order, visitor))),
            Some(Browsed::File(file)) => (&file.path, self.file(visitor, file, (&view, line), version).await),
            None => (&request.path, self.deleted_file(visitor, &request.path, version).await),
        };
        let main = match main {
            Ok(main) => main,
            Err(error) => return refusal(visitor, error),
        };
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("Files");
        layout::page(Some(visitor), "/files", &reveal(name), main).into_response()
    }

    /// Renders a file with its versions, or one of these compared with it.
    async fn file(
        &self,
        visitor: &Visitor,
        file: &FolderItem,
        part: (&str, Option<usize>),
        version: Option<FileId>,
    ) -> Result<Markup, AccessError> {
        let memory = self.admin.memory_files();
        let versions = memory.file_versions(&visitor.person, &file.path).await?;
        let shown = match version {
            Some(version) => self.version(visitor, &file.path, version).await?,
            None => self.preview(visitor, file, part).await?,
        };
        Ok(html! {
            (file_markup(file, visitor, &shown))
            (versions_markup(&file.path, &versions, version, visitor))
        })
    }

    /// Renders the versions of a deleted file, and one of them.
    async fn deleted_file(
        &self,
        visitor: &Visitor,
        path: &str,
        version: Option<FileId>,
    ) -> Result<Markup, AccessError> {
        let versions = self.admin.memory_files().file_versions(&visitor.person, path).await?;
        if !versions.iter().any(|row| row.has_content) {
            return Err(AccessRefusal::Missing.into());
        }
        let shown = match version {
            Some(version) => self.version(visitor, path, version).await?,
            None => Markup::default(),
        };
        Ok(html! {
            (path_markup(path))
            p { (says::DELETED_FILE) }
            (shown)
            (versions_markup(path, &versions, version, visitor))
        })
    }

    /// Renders a version, what restoring it changes, and the form that restores it.
    async fn version(&self, visitor: &Visitor, path: &str, version: FileId) -> Result<Markup, AccessError> {
        let memory = self.admin.memory_files();
        let old = memory.file_version(&visitor.person, path, version).await?.ok_or(AccessRefusal::Missing)?;
        let (is_same, change) = match memory.file_text(&visitor.person, path).await {
            Ok((now, _)) => {
                let change = texts::change(&now, &old);
                (change.is_none(), change)
            }
            // Restoring a version is the fix for an unreadable or deleted file.
            Err(error) => {
                error.refusal()?;
                (false, None)
            }
        };
        Ok(html! {
            p { a href=(render::path("/files", path)) { "Back to the file as it is now" } }
            @match is_same {
                true => p { (says::SAME_VERSION) },
                false => {
                    @if let Some(change) = change { h2 { "What restoring this version changes" } (change) }
                    form method="post" action=(render::path("/files", path)) {
                        button type="submit" name="version" value=(version) { "Restore this version" }
                    }
                }
            }
            h2 { "This version" }
            (texts::file(&old, FileView::Text))
        })
    }

    /// Renders what can be shown of a file: in a form, or around a line.
    async fn preview(
        &self,
        visitor: &Visitor,
        file: &FolderItem,
        (view, line): (&str, Option<usize>),
    ) -> Result<Markup, AccessError> {
        let memory = self.admin.memory_files();
        let opened = memory.open_file(&visitor.person, &file.path).await?;
        let name = reveal(&file.name);
        if opened.picture.is_some() {
            return Ok(match opened.size <= MAX_PICTURE {
                true => html! { p { img.picture src=(render::path("/raw", &file.path)) alt=(name); } },
                false => html! { p.note { (says::picture_too_large(MAX_PICTURE / 1_000_000)) } },
            });
        }
        let text = match memory.file_text(&visitor.person, &file.path).await {
            Ok((text, _)) => text,
            Err(AccessError::Refused(AccessRefusal::NoText)) => return Ok(html! { p.note { (says::NOT_A_TEXT) } }),
            Err(AccessError::Refused(AccessRefusal::TooLarge)) => {
                return Ok(html! { p.note { (says::TEXT_TOO_LARGE) } });
            }
            Err(error) => return Err(error),
        };
        let kind = FileView::of(file_type::extension(&file.name).as_str());
        let source = render::path("/files", &file.path);
        let is_short = opened.size <= MAX_TEXT;
        if let Some(line) = line.or((!is_short).then_some(1)) {
            return Ok(html! {
                @if is_short { p.facts { a href=(source) { "The whole text" } } }
                (texts::lines_at(&text, line, &source))
            });
        }
        Ok(html! {
            @if kind != FileView::Text { p.facts {
                @if view == "source" { a href=(source) { "Formatted" } " · As it is" }
                @else { "Formatted · " a href={ (source) "?view=source" } { "As it is" } }
            } }
            (texts::file(&text, if view == "source" { FileView::Text } else { kind }))
        })
    }
}

fn folder_markup(folder: &FolderPage, order: FileOrder, visitor: &Visitor) -> Markup {
    html! {
        (path_markup(&folder.path))
        p.facts {
            (counted(folder.below))
            @if folder.path.is_empty() { " · " a href="/deleted-files" { "Deleted, can be restored" } }
            @else { " · " (counted(folder.all)) " in all" }
            @if folder.counted_at < visitor.now { " · counted " (render::time(folder.counted_at, visitor.zone, visitor.now)) }
        }
        @if folder.path.is_empty() { form method="post" action="/file-health" { button type="submit" { "Check them" } } }
        (tree_markup(folder))
        @if folder.items.is_empty() { p { (says::NO_FILES) } } @else {
            div.scroll tabindex="0" { table {
                tr { (column("Name", FileOrder::Name, order, folder)) (column("Size", FileOrder::Size, order, folder)) (column("Changed", FileOrder::Time, order, folder)) th scope="col" { "By" } }
                @for item in &folder.items { (row(item, visitor)) }
            } }
        }
        @if folder.path.is_empty() || folder.path == "inbox" { (upload_form()) }
        @if let Some(next) = &folder.next {
            p { a.button rel="next" href={ (render::path("/files", &folder.path)) "?" @if order != FileOrder::Name { "sort=" (word(order)) "&" } "after=" (render::encoded(next)) } { "More" } }
        }
    }
}

/// The word for an order in an address.
fn word(order: FileOrder) -> &'static str {
    order.into()
}

/// The heading of a column, which sorts by it.
fn column(title: &str, by: FileOrder, order: FileOrder, folder: &FolderPage) -> Markup {
    let sorted = (by == order).then_some(if by == FileOrder::Name { "ascending" } else { "descending" });
    html! { th.number[by == FileOrder::Size] scope="col" aria-sort=[sorted] {
        a href={ (render::path("/files", &folder.path)) "?sort=" (word(by)) } { (title) }
        @if sorted.is_some() { span aria-hidden="true" { (if by == FileOrder::Name { " ▲" } else { " ▼" }) } }
    } }
}

/// The folders as a tree, unfolded down to the one that is shown.
fn tree_markup(folder: &FolderPage) -> Markup {
    html! { @if !folder.tree.folders.is_empty() { nav.tree aria-label="All folders" {
        details open[!folder.path.is_empty()] {
            summary { "Folders" }
            (branch(&folder.tree, "", &folder.path))
        }
    } } }
}

fn branch(tree: &FolderTree, above: &str, present: &str) -> Markup {
    let node = |node: &FolderNode| {
        let name = node.path.rsplit('/').next().unwrap_or_default();
        let inside = node.inside.folders.len() + node.inside.left_out;
        html! { li {
            a href=(render::path("/files", &node.path)) aria-current=[(node.path == present).then_some("page")] { bdi { (reveal(name)) } "/" }
            " " span.note { (counted(node.totals)) }
            @if !node.inside.folders.is_empty() { details open[node.is_open] {
                summary { (says::folders(inside)) }
                (branch(&node.inside, &node.path, present))
            } } @else if inside > 0 { " " span.note { "· " (says::folders(inside)) } }
        } }
    };
    html! { ul {
        @for folder in &tree.folders { (node(folder)) }
        @if tree.left_out > 0 { li { a href=(render::path("/files", above)) { (says::more_folders(tree.left_out)) } } }
    } }
}

fn upload_form() -> Markup {
    html! { section {
        h2 { "Add a file" }
        form method="post" action="/files" enctype="multipart/form-data" {
            label { "File" input type="file" name="file" required; }
            p.note { (says::about_uploads(MAX_FILE >> 20)) }
            button type="submit" { "Upload" }
        }
    } }
}

fn row(item: &FolderItem, visitor: &Visitor) -> Markup {
    html! { tr {
        th.name scope="row" {
            a href=(render::path("/files", &item.path)) { bdi { (reveal(&item.name)) @if item.is_folder { "/" } } }
            (texts::sources(&item.label))
        }
        td.number { @if item.is_folder { (counted(item.totals)) } @else { (words::size(Language::ENGLISH, item.totals.bytes)) } }
        td { (render::time(item.at, visitor.zone, visitor.now)) }
        td { (author(item)) }
    } }
}

fn file_markup(file: &FolderItem, visitor: &Visitor, preview: &Markup) -> Markup {
    html! {
        (path_markup(&file.path))
        p.facts {
            (words::size(Language::ENGLISH, file.totals.bytes)) " · changed "
            (render::time(file.at, visitor.zone, visitor.now)) " · " (author(file))
        }
        (texts::sources(&file.label))
        p { a.button href=(render::path("/raw", &file.path)) download { "Download" } }
        (preview)
    }
}

/// The versions of a file whose content is kept.
fn versions_markup(path: &str, versions: &[FileRow], shown: Option<FileId>, visitor: &Visitor) -> Markup {
    let kept = || versions.iter().filter(|row| row.has_content);
    let has_others = versions.iter().any(|row| !row.has_content && !row.digest.is_empty());
    html! { @if kept().next().is_some() { section {
        h2 { "Versions" }
        ol.rows { @for row in kept() { li {
            a href={ (render::path("/files", path)) "?version=" (row.id) } aria-current=[(shown == Some(row.id)).then_some("true")] {
                (version_facts(row, visitor))
            }
            (texts::sources(&row.label))
        } } }
        @if has_others { p.note { (says::VERSIONS_WITHOUT_TEXT) } }
    } } }
}

fn version_facts(row: &FileRow, visitor: &Visitor) -> Markup {
    html! {
        (render::time(row.at, visitor.zone, visitor.now)) " · "
        (words::version_origin(Language::ENGLISH, &row.author, &row.cause)) " · "
        (words::size(Language::ENGLISH, row.size))
    }
}

fn what_to_do(problem: FileProblem) -> &'static str {
    match problem {
        FileProblem::TooLarge => says::FILE_OVERFULL,
        FileProblem::Unreadable => says::FILE_UNREADABLE,
        FileProblem::Unlisted => says::FILE_UNLISTED,
    }
}

/// Links to the folders above a path.
fn path_markup(path: &str) -> Markup {
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
    let folders: Vec<&str> = slashes.into_iter().filter_map(|at| path.get(..at)).collect();
    html! { @if !path.is_empty() { nav.facts aria-label="Folders" {
        a href="/files" { "Files" } " / "
        @for folder in folders {
            a href=(render::path("/files", folder)) { bdi { (reveal(folder.rsplit('/').next().unwrap_or(folder))) } } " / "
        }
    } } }
}

fn author(item: &FolderItem) -> String {
    if item.is_folder { String::new() } else { words::version_origin(Language::ENGLISH, &item.author, &item.cause) }
}

fn counted(totals: FileTotals) -> String {
    match totals.files {
        0 => says::EMPTY_FOLDER.to_owned(),
        files => words::counted(Language::ENGLISH, files, totals.bytes),
    }
}

fn refusal(visitor: &Visitor, error: AccessError) -> Response {
    match error.refusal() {
        Ok(_) => layout::message(Some(visitor), StatusCode::NOT_FOUND, says::NO_SUCH_FILE),
        Err(error) => layout::failure(&error),
    }
}

/// Serves the bytes of an open file.
pub fn bytes_of(OpenedFile { file, name, size, picture }: OpenedFile) -> Response {
    let chunks = try_unfold((tokio::fs::File::from_std(file), size), |(mut file, left)| async move {
        let mut chunk = Vec::new();
        (&mut file).take(left.min(CHUNK)).read_to_end(&mut chunk).await?;
        let left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        Ok::<_, std::io::Error>((!chunk.is_empty()).then(|| (Bytes::from(chunk), (file, left))))
    });
    sent(Body::from_stream(chunks), &name, size, picture)
}

/// Sends a file: a picture to be shown, everything else to be downloaded.
pub(super) fn sent(body: Body, name: &str, size: u64, picture: Option<&'static str>) -> Response {
    let form = if picture.is_some() { "inline" } else { "attachment" };
    let disposition = format!("{form}; filename*=UTF-8''{}", render::encoded(name));
    let mut response = body.into_response();
    let headers: &mut HeaderMap = response.headers_mut();
    let mut set = |name: HeaderName, value: &str| {
        // Every value is ASCII.
        headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
    };
    set(CONTENT_TYPE, picture.unwrap_or(file_type::UNKNOWN));
    set(CONTENT_DISPOSITION, &disposition);
    set(CONTENT_LENGTH, &size.to_string());
    set(CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox");
    response
}
