//! A web of a few pages on loopback: every name resolves to it, every connection is counted.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use compline::tool::web::{Fetcher, Limits, Names, Rule};
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// HTML or redirect target by path.
type Pages = Arc<HashMap<String, String>>;

/// A web server on loopback.
pub struct Web {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<String>>>,
    visited: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// Serves each path with its HTML. A value that begins with `=> ` redirects to the rest.
    pub async fn of(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let pages: Pages =
            Arc::new(pages.iter().map(|(path, page)| ((*path).to_owned(), (*page).to_owned())).collect());
        let (connections, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::default()));
        let visited = Arc::new(Mutex::default());
        let (count, seen, hosts) = (Arc::clone(&connections), Arc::clone(&asked), Arc::clone(&visited));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, Arc::clone(&pages), Arc::clone(&seen), Arc::clone(&hosts)));
            }
        });
        Self { address, connections, asked, visited }
    }

    /// A fetcher that resolves every name to this server and permits its address besides public
    /// ones.
    pub fn fetcher(&self) -> Fetcher {
        let rule = Rule::public_only().and_exactly(vec![self.address]);
        Fetcher::with_names(Limits::default(), rule, Arc::new(FixedAddress(self.address))).unwrap()
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Requested paths.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Requested addresses: host and path.
    pub fn visited(&self) -> Vec<String> {
        self.visited.lock().unwrap().clone()
    }
}

/// A fetcher for which no name resolves.
pub fn nowhere() -> Fetcher {
    Fetcher::with_names(Limits::default(), Rule::public_only(), Arc::new(UnresolvableNames)).unwrap()
}

struct UnresolvableNames;

impl Names for UnresolvableNames {
    fn addresses<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async { Err(io::Error::other("there is no such name")) })
    }
}

struct FixedAddress(SocketAddr);

impl Names for FixedAddress {
    fn addresses<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![self.0]) })
    }
}

type Seen = Arc<Mutex<Vec<String>>>;

async fn answer(mut stream: TcpStream, pages: Pages, asked: Seen, visited: Seen) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return,
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or("").to_owned();
    let mut headers = request.lines().filter_map(|line| line.split_once(':'));
    let host = headers.find(|(name, _)| name.eq_ignore_ascii_case("host")).map_or("", |(_, host)| host.trim());
    visited.lock().unwrap().push(format!("{host}{path}"));
    let reply = match pages.get(&path).map(|page| (page, page.strip_prefix("=> "))) {
        None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        Some((_, Some(to))) => {
            format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        }
        Some((page, None)) => {
            let length = page.len();
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{page}"
            )
        }
    };
    asked.lock().unwrap().push(path);
    let _ = stream.write_all(reply.as_bytes()).await;
}
