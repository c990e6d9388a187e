//! The pictures of the documentation.

use std::path::Path;

use crate::driver::Chromium;
use crate::support::browser::{Browser, sign_in_code};
use crate::support::lived_in as home;

/// Maximum size of a picture.
const MAX_PICTURE: usize = 120 << 10;

/// Name of each picture, the page that it shows, its width, and whether it is dark.
const PICTURES: &[(&str, &str, u32, bool)] = &[
    ("page-today.png", "/", 1000, false),
    ("page-conversation.png", "/conversations/1", 1000, true),
    ("page-proposal.png", "/proposals/1", 1000, false),
];

/// The pictures of docs/web.md are of this program: `COMPLINE_WRITE=images` writes them.
#[tokio::test]
async fn the_pictures_show_the_program() {
    let story = home::lived_in().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    browser.sign_in(&base, &sign_in_code(story.app(), "Robin").await).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    for (name, page, width, is_dark) in PICTURES {
        browser.look(*width, *is_dark).await;
        browser.driver.goto(format!("{base}{page}")).await.unwrap();
        let picture = browser.driver.screenshot_as_png().await.unwrap();
        assert!(picture.len() <= MAX_PICTURE, "{name}: {} bytes", picture.len());
        if std::env::var("COMPLINE_WRITE").as_deref() == Ok("images") {
            std::fs::write(folder.join(name), picture).unwrap();
        }
        assert!(folder.join(name).is_file(), "{name} is missing: COMPLINE_WRITE=images writes it");
    }
    story.end().await;
}
