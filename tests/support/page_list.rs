//! The pages that a person can reach, found by following links.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use compline::web::{Access, Web};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use super::browser::Browser;

/// Routes that are no pages, or that no page leads to.
const NO_PAGES: &[(&str, &str)] = &[
    ("/assets/{digest}/{name}", "style, script and icons"),
    ("/chat/messages", "a part of the chat, for its script"),
    ("/chat/events", "a stream, for the script of the chat"),
    ("/chat/files/{part}", "a file of a message"),
    ("/health", "for programs"),
    ("/metrics", "for programs"),
];

/// Where one begins.
const STARTS: &[&str] = &[
    "/",
    "/login",
    "/search?q=week+kitchen+film+market&context=2",
    "/usage?before=2026-11-22",
    "/files/memory/MEMORY.md",
];

/// Number of pages of the same kind that are looked at.
const ALIKE: usize = 3;

/// Returns the route of an address.
fn route(table: &[&'static str], path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split(['?', '#']).next().unwrap_or_default().split('/').collect();
    let leads = |route: &&&'static str| {
        let wanted: Vec<&str> = route.split('/').collect();
        let rest = wanted.last().is_some_and(|part| part.starts_with("{*"));
        let long_enough = if rest { parts.len() >= wanted.len() } else { parts.len() == wanted.len() };
        long_enough && wanted.iter().zip(&parts).all(|(wanted, part)| wanted.starts_with('{') || wanted == part)
    };
    // A route without parts to fill in comes first, as in the router.
    let mut found: Vec<&&'static str> = table.iter().filter(leads).collect();
    found.sort_by_key(|route| route.matches('{').count());
    found.first().map(|route| **route)
}

/// Follows every link from the start, and returns some addresses for each route and set of names
/// in its query.
pub async fn pages(browser: &Browser, access: Access) -> Vec<String> {
    let rows = Web::table()
        .into_iter()
        .filter(|row| row.method == "GET" && (row.access != Access::Owner || access == Access::Owner));
    let table: Vec<&'static str> = rows.map(|row| row.path).collect();
    let mut found: BTreeMap<(&str, BTreeSet<String>), BTreeSet<String>> = BTreeMap::new();
    let mut left: VecDeque<String> = STARTS.iter().map(|path| (*path).to_owned()).collect();
    let mut files = BTreeSet::new();
    while let Some(path) = left.pop_front() {
        let path = path.split('#').next().unwrap_or_default().to_owned();
        let route = route(&table, &path).unwrap_or_else(|| panic!("{path} is no page of a {access:?}"));
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name.into_owned()).collect();
        let alike = found.entry((route, names)).or_default();
        if alike.len() >= ALIKE || !alike.insert(path.clone()) {
            continue;
        }
        match links(browser, &path).await {
            Some(links) => left.extend(links),
            None => drop(files.insert(path)),
        }
    }
    let seen: BTreeSet<&str> = found.keys().map(|(route, _)| *route).collect();
    let is_excused = |route: &str| NO_PAGES.iter().any(|(path, _)| *path == route);
    let missed: Vec<&&str> = table.iter().filter(|route| !seen.contains(**route) && !is_excused(route)).collect();
    assert!(missed.is_empty(), "No link leads a {access:?} to {missed:?}");
    found
        .into_iter()
        .filter(|((route, _), _)| !is_excused(route))
        .flat_map(|(_, paths)| paths)
        .filter(|path| !files.contains(path))
        .collect()
}

/// Returns the links of a page; `None` if the address is a file.
async fn links(browser: &Browser, path: &str) -> Option<Vec<String>> {
    let response = browser.request(Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.status());
    if !response.headers()[CONTENT_TYPE].to_str().unwrap().starts_with("text/html") {
        return None;
    }
    let document = dom_query::Document::from(response.text().await.unwrap());
    Some(document.select("a[href^='/']").iter().map(|link| link.attr_or("href", "").to_string()).collect())
}
