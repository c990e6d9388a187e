//! A browser without a screen: it keeps the cookie, follows no redirect, and sends what browsers
//! send.

use axum::Router;
use compline::app::App;
use compline::config::Config;
use dom_query::Document;
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Client, Method, RequestBuilder, StatusCode};

/// Settings of a story with a page, at any free port.
pub const SERVED: &str = "[web]\nlisten = \"127.0.0.1:0\"\n";

/// A browser at the page.
#[derive(Clone)]
pub struct Browser {
    client: Client,
    /// Address of the page, without a slash at its end.
    pub base: String,
    /// Cookie, as name and value.
    pub cookie: Option<String>,
}

/// An answer of the page.
#[derive(Debug)]
pub struct Page {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: reqwest::header::HeaderMap,
    /// Body.
    pub text: String,
}

/// A picture of a page, with the table below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Picture {
    /// Names of its lanes.
    pub lanes: Vec<String>,
    /// Number of its moments, or of the parts of its bars.
    pub marks: usize,
    /// Caption of the table.
    pub caption: String,
    /// Rows of the table, without its head.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// Returns the picture with that title.
    pub fn picture(&self, title: &str) -> Picture {
        let document = Document::from(self.text.as_str());
        let figure = document.select(&format!("figure:has(svg[aria-label=\"{title}\"])"));
        let rows = figure.select("tr").iter().skip(1);
        Picture {
            lanes: figure.select("text.lane").iter().map(|lane| lane.text().to_string()).collect(),
            marks: figure.select("svg.chart circle, svg.chart rect[class^=series-]").length(),
            caption: figure.select("caption").text().to_string(),
            rows: rows.map(|row| row.select("th, td").iter().map(|cell| cell.text().to_string()).collect()).collect(),
        }
    }

    /// Returns where a redirect leads.
    pub fn leads_to(&self) -> &str {
        self.headers.get(LOCATION).map_or("", |to| to.to_str().unwrap())
    }
}

impl Browser {
    /// Opens a browser that is not signed in.
    pub fn new(app: &App) -> Self {
        let base = app.admin.page.local().expect("the page is served").trim_end_matches('/').to_owned();
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { client, base, cookie: None }
    }

    /// Opens a browser and signs it in, as a person does on the computer.
    pub async fn of(app: &App, name: &str) -> Self {
        let mut browser = Self::new(app);
        let code = sign_in_code(app, name).await;
        let page = browser.post("/login", &[("code", &code)]).await;
        assert_eq!((page.status, page.leads_to()), (StatusCode::SEE_OTHER, "/"), "{}", page.text);
        browser
    }

    /// Builds a request as this browser sends it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base)).header(ACCEPT, "text/html");
        match &self.cookie {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    /// Returns the same browser with this cookie.
    pub fn with_cookie(self, cookie: Option<String>) -> Self {
        Self { cookie, ..self }
    }

    /// Returns the same browser at the page of a gateway that was started again.
    pub fn at(self, app: &App) -> Self {
        Self { base: Self::new(app).base, ..self }
    }

    /// Returns the routes of the page without its server, for requests that no client sends.
    pub async fn routes(&self, app: &App, config: Config) -> Router {
        let address = self.base.trim_start_matches("http://").parse().unwrap();
        app.page_at(config.web.expect("the page is served"), address).await.unwrap().routes()
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Page {
        answer(self.request(Method::GET, path)).await
    }

    /// Returns the page as it is sent to a browser that reads gzip: one elsewhere under that name,
    /// or one on this computer.
    pub async fn sent(&self, path: &str, name: Option<&str>) -> (reqwest::header::HeaderMap, Vec<u8>) {
        let client = Client::builder().no_proxy().no_gzip().build().unwrap();
        let mut request = client.get(format!("{}{path}", self.base)).header(ACCEPT, "text/html");
        let mut cookie = self.cookie.clone().expect("the browser is signed in");
        if let Some(name) = name {
            request = request.header("host", name);
            cookie = format!("__Host-{cookie}");
        }
        let response = request.header(COOKIE, cookie).header("accept-encoding", "gzip").send().await.unwrap();
        (response.headers().clone(), response.bytes().await.unwrap().to_vec())
    }

    /// Opens a list, and each page that its link to the next one leads to.
    pub async fn each_page(&self, path: &str) -> Vec<Page> {
        let mut pages = vec![self.get(path).await];
        while let Some(next) = pages[pages.len() - 1].text.split("rel=\"next\" href=\"").nth(1) {
            let next = next.split('"').next().unwrap().replace("&amp;", "&");
            pages.push(self.get(&next).await);
        }
        pages
    }

    /// Sends a form with files.
    pub async fn send(&self, path: &str, form: &[(&str, &str)], files: &[(&str, &[u8])]) -> Page {
        let request = self
            .request(Method::POST, path)
            .header("sec-fetch-site", "same-origin")
            .header(CONTENT_TYPE, "multipart/form-data; boundary=b")
            .body(form_with_files(form, files));
        answer(request).await
    }

    /// Sends a form of the page.
    pub async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(form);
        let request = self
            .request(Method::POST, path)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.finish());
        let page = answer(request).await;
        if let Some(cookie) = page.headers.get(SET_COOKIE) {
            self.cookie = cookie.to_str().unwrap().split(';').next().map(str::to_owned);
        }
        page
    }
}

/// Returns a form with files, as a browser sends it with the boundary `b`.
pub fn form_with_files(form: &[(&str, &str)], files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in form {
        body.extend_from_slice(
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").as_bytes(),
        );
    }
    for (name, bytes) in files {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n");
        body.extend_from_slice(format!("{head}Content-Type: application/octet-stream\r\n\r\n").as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    body
}

/// Sends a request. Nothing is read of a stream, which has no end.
pub async fn answer(request: RequestBuilder) -> Page {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let is_stream = headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    Page { status, headers, text: if is_stream { String::new() } else { response.text().await.unwrap() } }
}

/// Returns the code of a new sign-in link for a person.
pub async fn sign_in_code(app: &App, name: &str) -> String {
    let words = ["web", "--as", name].map(str::to_owned);
    let answer = app.admin.command_line(&words).await;
    let url = answer.json["url"].as_str().unwrap_or_else(|| panic!("{}", answer.markdown)).to_owned();
    url.split_once('#').unwrap().1.to_owned()
}
