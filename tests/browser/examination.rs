//! What every page is held to in a browser.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::driver::{Chromium, Look};

/// The checker of accessibility, from npm.
static AXE: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(path).expect("axe-core is not installed: run `bash tests/run.sh page`")
});

const RUN_AXE: &str = "const done = arguments[0]; \
    axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then( \
        (found) => done(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html + ' ' + n.failureSummary).join(' | ')}`)), \
        (error) => done([`axe: ${error}`]));";

/// Words that nobody can see: their colour is about that of what is behind them.
const UNSEEN: &str = "(() => { \
    const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number); \
    const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255) \
        .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4) \
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0); \
    const probe = document.body.appendChild(document.createElement('i')); \
    probe.style.backgroundColor = 'Canvas'; \
    const canvas = matchMedia('print').matches ? 'rgb(255, 255, 255)' : getComputedStyle(probe).backgroundColor; \
    probe.remove(); \
    const isClear = (colour) => colour === 'transparent' || parts(colour)[3] === 0; \
    const behind = (element) => { \
        for (let at = element; at; at = at.parentElement) { \
            const colour = getComputedStyle(at).backgroundColor; \
            if (!isClear(colour)) return colour; \
        } \
        return canvas; \
    }; \
    const holds = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()); \
    const shown = [...document.querySelectorAll('body *')].filter((element) => holds(element) && element.checkVisibility() && element.getClientRects().length); \
    return shown.filter((element) => { \
        const style = getComputedStyle(element); \
        const [one, other] = [light(element instanceof SVGElement ? style.fill : style.color), light(behind(element))].sort((a, b) => b - a); \
        return (one + 0.05) / (other + 0.05) < 2; \
    }).map((element) => `${element.localName} ${element.textContent.trim().slice(0, 40)}`); })()";

/// What does not belong on paper.
const PRINTED: &str = "[...document.querySelectorAll('.top, .skip, button, main form')] \
    .filter((element) => element.checkVisibility()).map((element) => element.localName)";

/// Opens an address and returns what is wrong with the page there.
pub async fn faults(browser: &Chromium, base: &str, path: &str) -> Vec<String> {
    browser.console().await;
    browser.network().await;
    browser.driver.goto(format!("{base}{path}")).await.unwrap();
    faults_here(browser, base, path).await
}

/// Returns what is wrong with the page that is open: words of the console, violations of its
/// policy, requests elsewhere, faults of accessibility, words that one cannot see, what does not
/// belong on paper, and a width that makes one scroll sideways. 320 px are those of a page of
/// 640 px at 200 %.
pub async fn faults_here(browser: &Chromium, base: &str, path: &str) -> Vec<String> {
    let mut found = loading_faults(browser, base).await;
    for (width, is_dark) in [(1280, false), (1280, true), (360, false), (360, true)] {
        browser.look(width, is_dark).await;
        let scheme = if is_dark { "dark" } else { "light" };
        found.extend(shown_faults(browser).await.into_iter().map(|fault| format!("{width} px, {scheme}: {fault}")));
        picture(browser, &format!("{width}-{scheme}{path}")).await;
    }
    for (name, look) in [
        ("320 px", Look { width: 320, ..Look::default() }),
        ("forced colours", Look { has_forced_colours: true, ..Look::default() }),
        ("forced colours, dark", Look { has_forced_colours: true, is_dark: true, ..Look::default() }),
        ("print", Look { width: 700, is_printed: true, ..Look::default() }),
        ("print, dark", Look { width: 700, is_printed: true, is_dark: true, ..Look::default() }),
    ] {
        browser.show(look).await;
        let mut faults = too_wide(browser).await;
        faults.extend(texts(&browser.value(UNSEEN).await).map(|words| format!("nobody sees {words}")));
        if look.is_printed {
            faults.extend(texts(&browser.value(PRINTED).await).map(|element| format!("on paper: {element}")));
        }
        found.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    browser.look(1280, false).await;
    found.into_iter().map(|fault| format!("{path}: {fault}")).collect()
}

/// Keeps a picture of the page to look at, if `COMPLINE_WRITE` is `screens`.
async fn picture(browser: &Chromium, name: &str) {
    if std::env::var("COMPLINE_WRITE").as_deref() != Ok("screens") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screens");
    std::fs::create_dir_all(&folder).unwrap();
    let name: String = name.chars().map(|char| if char.is_alphanumeric() { char } else { '-' }).take(120).collect();
    let size = browser.value("[document.documentElement.clientWidth, document.documentElement.scrollHeight]").await;
    let clip = serde_json::json!({ "x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1 });
    let whole = serde_json::json!({ "captureBeyondViewport": true, "clip": clip });
    let shot = browser.control("Page.captureScreenshot", whole).await;
    let data = shot["data"].as_str().unwrap_or_default();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
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

/// Returns what is wrong with the page as it is shown now.
pub async fn shown_faults(browser: &Chromium) -> Vec<String> {
    let mut found = too_wide(browser).await;
    if browser.value("!window.axe").await == true {
        browser.driver.execute(AXE.as_str(), Vec::new()).await.unwrap();
    }
    let checked = browser.driver.execute_async(RUN_AXE, Vec::new()).await.unwrap();
    found.extend(texts(checked.json()).map(|fault| format!("axe {fault}")));
    found
}

async fn too_wide(browser: &Chromium) -> Vec<String> {
    let wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";
    let widths = browser.value(wide).await;
    let is_wide = widths[0].as_u64() > widths[1].as_u64();
    is_wide.then(|| format!("one must scroll sideways: {widths}")).into_iter().collect()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
