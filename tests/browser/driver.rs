//! Chromium and its driver, for one story.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{ChromeCapabilities, LoggingPrefsLogLevel, TypingData};

/// Longer than any page takes.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Runs in each page before anything of it: keeps what the policy of the page forbade.
const WATCH: &str = "window.violations = []; addEventListener('securitypolicyviolation', \
                     (event) => window.violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));";

/// How pages are shown.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Width of the window.
    pub width: u32,
    pub is_dark: bool,
    /// With the colours of the system instead of the page's.
    pub has_forced_colours: bool,
    pub is_printed: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { width: 1280, is_dark: false, has_forced_colours: false, is_printed: false }
    }
}

/// Fails unless a press was done. One that opened another page was: the driver, cut off by that page,
/// only cannot say so.
fn assert_done(pressed: WebDriverResult<()>) {
    if let Err(error) = pressed {
        assert!(error.to_string().contains("aborted by navigation"), "{error}");
    }
}

/// A browser window, closed with this value.
pub struct Chromium {
    pub driver: WebDriver,
    process: Driver,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The library would close it with the runtime that stands still meanwhile.
        let _ = self.driver.clone().leak();
        let session = format!("DELETE /session/{} HTTP/1.1", self.driver.session_id());
        if let Ok(mut connection) = TcpStream::connect(&self.process.address) {
            let request = format!("{session}\r\nHost: {}\r\nConnection: close\r\n\r\n", self.process.address);
            let _ = connection.write_all(request.as_bytes());
            // The answer comes when it is closed.
            let _ = connection.read(&mut [0; 512]);
        }
    }
}

/// The process of the driver, killed with this value.
struct Driver {
    process: Child,
    address: String,
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Driver {
    /// Starts it at a free port. It wants the same one for IPv4 and IPv6, and ends when either is another's.
    fn start() -> Self {
        (0..10).find_map(|_| Self::try_start()).expect("the driver finds a free port")
    }

    fn try_start() -> Option<Self> {
        let process = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium and its driver are not installed: run `bash tests/run.sh page`");
        let mut driver = Self { process, address: String::new() };
        let mut lines = BufReader::new(driver.process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("started successfully on port "))?;
        let port = line.rsplit(' ').next().unwrap().trim_end_matches('.');
        driver.address = format!("127.0.0.1:{port}");
        Some(driver)
    }
}

impl Chromium {
    /// Opens a browser that knows nobody.
    pub async fn open() -> Self {
        Self::with(&[]).await
    }

    /// Opens a browser with further arguments.
    pub async fn with(arguments: &[&str]) -> Self {
        let process = Driver::start();
        let mut wanted = ChromeCapabilities::new();
        // Its own sandbox needs rights that a container does not give; the pages are ours.
        let usual =
            ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", "--hide-scrollbars"];
        for argument in usual.iter().chain(arguments) {
            wanted.add_arg(argument).unwrap();
        }
        for log in ["browser", "performance"] {
            wanted.set_logging_prefs(log, LoggingPrefsLogLevel::All).unwrap();
        }
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let driver = WebDriver::builder(format!("http://{}", process.address), wanted)
            .client(client)
            .connect()
            .await
            .expect("Chromium opens");
        let browser = Self { driver, process };
        browser.control("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await;
        browser.look(1280, false).await;
        browser
    }

    /// Sends a command of the DevTools protocol.
    pub async fn control(&self, method: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(method, parameters).await.unwrap()
    }

    /// Sets the width of the window, and whether the system is dark.
    pub async fn look(&self, width: u32, is_dark: bool) {
        self.show(Look { width, is_dark, ..Look::default() }).await;
    }

    /// Sets how pages are shown.
    pub async fn show(&self, look: Look) {
        let size = json!({ "width": look.width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.control("Emulation.setDeviceMetricsOverride", size).await;
        let scheme = if look.is_dark { "dark" } else { "light" };
        let forced = if look.has_forced_colours { "active" } else { "none" };
        let features =
            json!([{ "name": "prefers-color-scheme", "value": scheme }, { "name": "forced-colors", "value": forced }]);
        let media = if look.is_printed { "print" } else { "" };
        self.control("Emulation.setEmulatedMedia", json!({ "media": media, "features": features })).await;
    }

    /// Turns the scripts of pages off.
    pub async fn without_script(&self) {
        self.control("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    }

    /// Returns the value of an expression in the page.
    pub async fn value(&self, expression: &str) -> Value {
        let returned = self.driver.execute(format!("return {expression};"), Vec::new()).await;
        returned.unwrap_or_else(|error| panic!("{expression}: {error}")).json().clone()
    }

    /// Waits until an expression is true in a page that is loaded, with its scripts: what is pressed
    /// in a page before is lost. One that goes away meanwhile answers nothing.
    pub async fn until(&self, expression: &str) {
        let begun = Instant::now();
        while !self.holds(expression).await {
            assert!(begun.elapsed() < LIMIT, "{expression} never held: {}", self.text().await);
        }
    }

    async fn holds(&self, expression: &str) -> bool {
        let script = format!("return document.readyState === 'complete' && ({expression});");
        let returned = self.driver.execute(script, Vec::new()).await;
        returned.is_ok_and(|value| *value.json() == json!(true))
    }

    /// Returns the visible words of the page.
    pub async fn text(&self) -> String {
        self.value("document.body.innerText").await.as_str().unwrap_or_default().to_owned()
    }

    /// Presses keys.
    pub async fn press(&self, keys: impl Into<TypingData>) {
        assert_done(self.driver.action_chain().send_keys(keys).perform().await);
    }

    /// Presses the first button of the page with this title.
    pub async fn press_button(&self, title: &str) {
        self.click(By::XPath(format!("//main//button[normalize-space()='{title}']"))).await;
    }

    /// Clicks the first such element.
    pub async fn click(&self, by: By) {
        let found = self.driver.find(by.clone()).await;
        assert_done(found.unwrap_or_else(|error| panic!("{by:?}: {error}")).click().await);
    }

    /// Signs the browser in by a link, as a person does.
    pub async fn sign_in(&self, base: &str, code: &str) {
        self.driver.goto(format!("{base}/login#{code}")).await.unwrap();
        self.until("document.querySelector('[data-sign-in-name]').textContent.startsWith('Sign in as ')").await;
        self.press_button("Sign in").await;
        self.until("location.pathname === '/'").await;
    }

    /// Returns the events of the network since the last call.
    pub async fn network(&self) -> Vec<Value> {
        let entries = self.driver.get_log("performance").await.unwrap();
        let events = entries.into_iter().map(|entry| serde_json::from_str::<Value>(&entry.message).unwrap());
        events.map(|mut event| event["message"].take()).collect()
    }

    /// Returns what the console said since the last call.
    pub async fn console(&self) -> Vec<String> {
        self.driver.browser_log().await.unwrap().into_iter().map(|entry| entry.message).collect()
    }
}
