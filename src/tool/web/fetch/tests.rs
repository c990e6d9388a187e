//! Fetches from a server on loopback, reached through scripted names, so that every path to a
//! private address can be tested without leaving the machine.

use std::{collections::HashMap, io, net::SocketAddr, sync::Mutex};

use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Serves fixed bytes per path and records each request.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(routes: Vec<(&'static str, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let routes: Arc<HashMap<&str, Vec<u8>>> = Arc::new(routes.into_iter().collect());
        let seen = requests.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, routes.clone(), seen.clone()));
            }
        });
        Self { address, requests }
    }

    fn paths(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request.split(' ').nth(1).unwrap_or("").to_owned()).collect()
    }
}

async fn answer(mut stream: TcpStream, routes: Arc<HashMap<&str, Vec<u8>>>, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return,
        }
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap_or("").to_owned();
    seen.lock().unwrap().push(request);
    if path == "/endless" {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut open = stream.write_all(head).await.is_ok();
        while open {
            open = stream.write_all(b"8\r\naaaaaaaa\r\n").await.is_ok();
        }
    } else if path == "/silent" {
        let _closed_by_the_other_side = stream.read_u8().await;
    } else if let Some(reply) = routes.get(path.as_str()) {
        let _ = stream.write_all(reply).await;
    }
}

/// Scripted names; each lookup is recorded.
struct Script {
    names: HashMap<&'static str, Vec<SocketAddr>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names for Script {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let found = self.names.get(host).cloned().ok_or(io::ErrorKind::NotFound.into());
        Box::pin(async move { found })
    }
}

const LIMITS: Limits = Limits { bytes: 100_000, time: Duration::from_secs(10), redirects: 5, text_chars: 1_000_000 };

/// A fetcher for which `public.example` is the server, the only permitted address besides public
/// ones.
fn fetcher(server: &Server, limits: Limits) -> (Fetcher, Arc<Mutex<Vec<String>>>) {
    let public: SocketAddr = "8.8.8.8:80".parse().unwrap();
    let private: SocketAddr = "10.0.0.1:80".parse().unwrap();
    let unlisted = SocketAddr::new(server.address.ip(), 80);
    let names = HashMap::from([
        ("public.example", vec![server.address]),
        ("private.example", vec![private]),
        ("mixed.example", vec![public, private]),
        ("reversed.example", vec![private, public]),
        ("unlisted.example", vec![unlisted]),
        ("mapped.example", vec!["[::ffff:127.0.0.1]:80".parse().unwrap()]),
        ("nowhere.example", vec![]),
    ]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let script = Script { names, asked: asked.clone() };
    let rule = Rule::public_only().and_exactly(vec![server.address]);
    (Fetcher::with_names(limits, rule, Arc::new(script)).unwrap(), asked)
}

fn reply(head: &str, body: &[u8]) -> Vec<u8> {
    let mut reply =
        format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).into_bytes();
    reply.extend_from_slice(body);
    reply
}

fn ok(content_type: &str, body: &[u8]) -> Vec<u8> {
    reply(&format!("200 OK\r\ncontent-type: {content_type}"), body)
}

fn to(location: &str) -> Vec<u8> {
    reply(&format!("302 Found\r\nlocation: {location}"), b"")
}

async fn get(server: &Server, address: &str) -> Result<WebPage, FetchError> {
    fetcher(server, LIMITS).0.fetch(&Url::parse(address).unwrap(), &|_| true).await
}

#[tokio::test]
async fn a_page_comes_back_as_text_and_only_a_plain_request_goes_out() {
    let server = Server::start(vec![("/a?b=c", ok("text/html; charset=utf-8", b"<title>T</title><p>Hello</p>"))]).await;
    let page = get(&server, "http://public.example/a?b=c#d").await.unwrap();
    assert_eq!(page.text, "Hello");
    assert_eq!(page.title.as_deref(), Some("T"));
    assert_eq!((page.host.as_str(), page.content_type.as_str()), ("public.example", "text/html"));
    assert!(!page.truncated);
    let request = server.requests.lock().unwrap().concat().to_ascii_lowercase();
    assert!(request.starts_with("get /a?b=c http/1.1\r\n"), "{request}");
    assert!(request.contains("user-agent: compline/"), "{request}");
    for unwanted in ["cookie:", "referer:", "authorization:"] {
        assert!(!request.contains(unwanted), "{request}");
    }
}

#[tokio::test]
async fn names_with_any_forbidden_answer_are_refused_unasked() {
    let server = Server::start(vec![]).await;
    for name in ["private", "mixed", "reversed", "unlisted", "mapped"] {
        let host = format!("{name}.example");
        let refused = get(&server, &format!("http://{host}/")).await.unwrap_err();
        assert_eq!(refused, FetchError::Forbidden { host });
    }
    let explicit = format!("http://unlisted.example:{}/", server.address.port() ^ 1);
    assert!(matches!(get(&server, &explicit).await, Err(FetchError::Forbidden { .. } | FetchError::Port(_))));
    for name in ["nowhere", "unknown"] {
        let failed = get(&server, &format!("http://{name}.example/")).await;
        assert!(matches!(failed, Err(FetchError::Unreachable(_))), "{failed:?}");
    }
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn each_redirect_is_judged_like_the_first_address() {
    let forbidden = |host: &str| FetchError::Forbidden { host: host.to_owned() };
    let cases = [
        ("http://127.0.0.1/", forbidden("127.0.0.1")),
        ("http://0x7f.1/", forbidden("127.0.0.1")),
        ("http://2130706433/", forbidden("127.0.0.1")),
        ("http://[::1]/", forbidden("[::1]")),
        ("http://169.254.169.254/latest", forbidden("169.254.169.254")),
        ("//private.example/x", forbidden("private.example")),
        ("http://localhost/", forbidden("localhost")),
        ("http://ada:pw@public.example/", FetchError::Credentials),
        ("http://public.example:22/", FetchError::Port(22)),
        ("file:///etc/passwd", FetchError::Scheme),
        ("http://[", FetchError::NotAnAddress),
    ];
    for (location, expected) in cases {
        let server = Server::start(vec![("/", to(location))]).await;
        assert_eq!(get(&server, "http://public.example/").await.unwrap_err(), expected, "{location}");
        assert_eq!(server.paths(), ["/"], "{location}");
    }
}

#[tokio::test]
async fn a_name_is_asked_for_once_per_hop_and_never_again() {
    let server = Server::start(vec![("/1", to("/2")), ("/2", ok("text/plain", b"there"))]).await;
    let (fetcher, asked) = fetcher(&server, LIMITS);
    let page = fetcher.fetch(&Url::parse("http://public.example/1").unwrap(), &|_| true).await.unwrap();
    assert_eq!((page.url.as_str(), page.text.as_str()), ("http://public.example/2", "there"));
    assert_eq!(*asked.lock().unwrap(), ["public.example", "public.example"]);
}

#[tokio::test]
async fn redirects_end() {
    let chain = ["/0", "/1", "/2", "/3", "/4", "/5"];
    let mut routes: Vec<_> = chain.iter().zip(chain.iter().skip(1)).map(|(from, next)| (*from, to(next))).collect();
    routes.extend([
        ("/5", ok("text/plain", b"end")),
        ("/loop", to("/loop")),
        ("/more", to("/0")),
        ("/lost", reply("302 Found", b"")),
    ]);
    let server = Server::start(routes).await;
    assert_eq!(get(&server, "http://public.example/0").await.unwrap().text, "end");
    for path in ["loop", "more"] {
        let circled = get(&server, &format!("http://public.example/{path}")).await;
        assert_eq!(circled.unwrap_err(), FetchError::TooManyRedirects);
    }
    assert_eq!(server.paths().iter().filter(|path| *path == "/loop").count(), 1 + LIMITS.redirects);
    assert_eq!(get(&server, "http://public.example/lost").await.unwrap_err(), FetchError::Status(302));
}

/// A gzip body that unpacks to 20 times the cap: one literal, then runs of 258 bytes in 13 bits
/// each.
fn gzip_bomb() -> Vec<u8> {
    let mut bits = String::from("110"); // last block, fixed codes
    bits.push_str("10010001"); // the letter a
    bits.push_str(&"1100010100000".repeat(LIMITS.bytes * 20 / 258));
    bits.push_str("0000000"); // end of block
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for chunk in bits.as_bytes().chunks(8) {
        bytes.push(chunk.iter().enumerate().map(|(at, bit)| (bit - b'0') << at).sum());
    }
    bytes
}

#[tokio::test]
async fn size_is_capped_after_decompression_and_without_end() {
    let bomb = gzip_bomb();
    assert!(bomb.len() < LIMITS.bytes, "the wire size must not be what stops it");
    let server =
        Server::start(vec![("/bomb", reply("200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip", &bomb))])
            .await;
    for path in ["bomb", "endless"] {
        let page = get(&server, &format!("http://public.example/{path}")).await.unwrap();
        assert_eq!((page.text.len(), page.truncated), (LIMITS.bytes, true), "{path}");
        assert!(page.text.chars().all(|c| c == 'a'));
    }
}

#[tokio::test]
async fn time_is_capped() {
    let server = Server::start(vec![]).await;
    let hurried = Limits { time: Duration::from_millis(200), ..LIMITS };
    let (fetcher, _) = fetcher(&server, hurried);
    let late = fetcher.fetch(&Url::parse("http://public.example/silent").unwrap(), &|_| true).await;
    assert_eq!(late.unwrap_err(), FetchError::TimedOut);
    assert_eq!(server.paths(), ["/silent"]);
}

#[tokio::test]
async fn bodies_by_type_and_set() {
    let unsupported = |content_type: &str| Err(FetchError::Unsupported { content_type: content_type.to_owned() });
    let long = Vec::from(b"<p>caf\xe9</p>");
    let cases: Vec<(&str, Vec<u8>, Result<&str, FetchError>)> = vec![
        ("/latin", ok("text/html; charset=\"ISO-8859-1\"", &long), Ok("café")),
        ("/meta", ok("text/html", b"<meta charset=latin1><p>caf\xe9"), Ok("café")),
        ("/invalid", ok("text/plain; charset=utf-8", b"caf\xe9!"), Ok("caf\u{fffd}!")),
        ("/json", ok("application/json", b"{\"a\": \"<b>\"}"), Ok("{\"a\": \"<b>\"}")),
        ("/feed", ok("application/rss+xml", b"<rss/>"), Ok("<rss/>")),
        ("/markdown", ok("text/markdown", b"# a\n\n* b"), Ok("# a\n\n* b")),
        ("/untyped", reply("200 OK", b"<!DOCTYPE html><p>x"), Ok("x")),
        ("/unnamed", reply("200 OK", b"\x89PNG\r\n\0"), unsupported("application/octet-stream")),
        ("/image", ok("image/png", b"\x89PNG"), unsupported("image/png")),
        ("/drawing", ok("image/svg+xml", b"<svg/>"), unsupported("image/svg+xml")),
        ("/odd", ok("a/b\"<script>", b"x"), unsupported("a/bscript")),
        ("/set", ok("text/plain; charset=koi8-r", b"\xc4\xc1"), Ok("да")),
        ("/unknown", ok("text/plain; charset=utf-7", b"x"), unsupported("text/plain; charset=utf-7")),
        ("/empty", ok("text/html", b""), Err(FetchError::Empty)),
        ("/blank", ok("text/plain", b" \n\0"), Err(FetchError::Empty)),
        ("/none", b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), Err(FetchError::Empty)),
        ("/broken", reply("500 Oops\r\ncontent-type: text/plain", b"trace"), Err(FetchError::Status(500))),
        ("/gone", reply("404 Not Found", b""), Err(FetchError::Status(404))),
        (
            "/cut",
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc".to_vec(),
            Err(FetchError::Unreachable("the reply is broken")),
        ),
        ("/rubbish", b"\0\0\0".to_vec(), Err(FetchError::Unreachable("the reply is broken"))),
    ];
    let server = Server::start(cases.iter().map(|(path, reply, _)| (*path, reply.clone())).collect()).await;
    for (path, _, expected) in cases {
        let text = get(&server, &format!("http://public.example{path}")).await.map(|page| page.text);
        assert_eq!(text, expected.map(str::to_owned), "{path}");
    }
}

#[tokio::test]
async fn a_refused_connection_says_no_more_than_that() {
    let server = Server::start(vec![]).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let rule = Rule::public_only().and_exactly(vec![closed]);
    drop(fetcher(&server, LIMITS));
    let failed = Fetcher::with_rule(LIMITS, rule)
        .unwrap()
        .fetch(&Url::parse(&format!("http://{closed}/")).unwrap(), &|_| true)
        .await;
    assert_eq!(failed.unwrap_err(), FetchError::Unreachable("no connection"));
}
