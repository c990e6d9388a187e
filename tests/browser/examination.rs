//! What every page is held to in a browser.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::driver::Chromium;

/// The checker of accessibility, from npm.
static AXE: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(path).expect("axe-core is not installed: run `bash tests/run.sh page`")
});

const RUN_AXE: &str = "const done = arguments[0]; \
    axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then( \
        (found) => done(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html + ' ' + n.failureSummary).join(' | ')}`)), \
        (error) => done([`axe: ${error}`]));";

/// Opens an address and returns what is wrong with the page there: words of the console,
/// violations of its policy, requests elsewhere, faults of accessibility, and a width that makes
/// one scroll sideways.
pub async fn faults(browser: &Chromium, base: &str, path: &str) -> Vec<String> {
    browser.console().await;
    browser.network().await;
    browser.driver.goto(format!("{base}{path}")).await.unwrap();
    let mut found = loading_faults(browser, base).await;
    browser.driver.execute(AXE.as_str(), Vec::new()).await.unwrap();
    for (width, is_dark) in [(1280, false), (1280, true), (360, false), (360, true)] {
        browser.look(width, is_dark).await;
        let scheme = if is_dark { "dark" } else { "light" };
        found.extend(shown_faults(browser).await.into_iter().map(|fault| format!("{width} px, {scheme}: {fault}")));
    }
    browser.look(1280, false).await;
    found.into_iter().map(|fault| format!("{path}: {fault}")).collect()
}

/// Returns what went wrong while the page was loaded.
pub async fn loading_faults(browser: &Chromium, base: &str) -> Vec<String> {
    let mut found: Vec<String> = browser.console().await.into_iter().map(|line| format!("console: {line}")).collect();
    found.extend(texts(&browser.value("window.violations").await).map(|line| format!("policy: {line}")));
    let requests = browser.network().await.into_iter().filter(|event| event["method"] == "Network.requestWillBeSent");
    let addresses = requests.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned());
    let own = format!("{base}/");
    found.extend(addresses.filter(|to| !to.starts_with(&own)).map(|to| format!("a request to {to}")));
    found
}

async fn shown_faults(browser: &Chromium) -> Vec<String> {
    let mut found = Vec::new();
    let wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";
    let widths = browser.value(wide).await;
    if widths[0].as_u64() > widths[1].as_u64() {
        found.push(format!("one must scroll sideways: {widths}"));
    }
    let checked = browser.driver.execute_async(RUN_AXE, Vec::new()).await.unwrap();
    found.extend(texts(checked.json()).map(|fault| format!("axe {fault}")));
    found
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
