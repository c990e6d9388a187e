//! Text of a document, page by page: the work of [`super::reader`]'s child process.
//!
//! Nothing here defends the process. A parser may panic on a page, which loses the page; worse
//! failures end the process, which exists to absorb them. The output has no control characters and
//! no spelling that search would not recognise.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document as Pdf, PlainTextOutput, output_doc_page};

use super::reader::Document;
use crate::tool::web;

/// Maximum number of pages. Later pages are not read.
const MAX_PAGES: u32 = 2_000;

/// Reason why a document has no readable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Locked with a password.
    Locked,
    /// Broken, or not of its declared type; perhaps only from some page on.
    Broken,
}

/// Passes the text of each page to `each` as soon as it is extracted. Stops when it returns
/// `false`.
///
/// # Errors
/// If the document, or one of its pages, could not be read. The pages before that count.
pub fn read(kind: Document, bytes: &[u8], mut each: impl FnMut(&str) -> bool) -> Result<(), Unread> {
    match kind {
        Document::Html => {
            let page = web::decode(bytes, None).map_err(|_| Unread::Broken)?;
            let words = web::whole(&page).map_err(|_| Unread::Broken)?;
            each(&words);
            Ok(())
        }
        Document::Pdf => read_pdf(bytes, each),
    }
}

fn read_pdf(bytes: &[u8], mut each: impl FnMut(&str) -> bool) -> Result<(), Unread> {
    let mut pdf = caught(|| Pdf::load_mem(bytes).ok()).ok_or(Unread::Broken)?;
    if pdf.is_encrypted() && caught(|| pdf.decrypt("").ok()).is_none() {
        return Err(Unread::Locked);
    }
    let pages: Vec<u32> = pdf.get_pages().into_keys().collect();
    let mut whole = !pages.is_empty() && pages.len() <= usize::try_from(MAX_PAGES).unwrap_or(usize::MAX);
    for page in pages.into_iter().take_while(|page| *page <= MAX_PAGES) {
        let (words, is_all) = read_page(&pdf, page);
        whole &= is_all;
        if !words.is_empty() && !each(&words) {
            return Ok(());
        }
    }
    if whole { Ok(()) } else { Err(Unread::Broken) }
}

/// Extracts the text of one page, with `true` if it is complete: laid out if that works, otherwise
/// at least in file order.
fn read_page(pdf: &Pdf, page: u32) -> (String, bool) {
    let mut laid_out = String::new();
    let done = caught(|| output_doc_page(pdf, &mut PlainTextOutput::new(&mut laid_out), page).ok());
    let laid_out = plain(&laid_out);
    if done.is_some() {
        return (laid_out, true);
    }
    let in_order = caught(|| pdf.extract_text(&[page]).ok());
    let is_all = in_order.is_some();
    let in_order = plain(&in_order.unwrap_or_default());
    if in_order.len() > laid_out.len() { (in_order, is_all) } else { (laid_out, false) }
}

fn caught<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}

/// Cleans text and splits typographic ligatures.
fn plain(words: &str) -> String {
    let mut apart = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\u{fb00}' => apart.push_str("ff"),
            '\u{fb01}' => apart.push_str("fi"),
            '\u{fb02}' => apart.push_str("fl"),
            '\u{fb03}' => apart.push_str("ffi"),
            '\u{fb04}' => apart.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => apart.push_str("st"),
            c => apart.push(c),
        }
    }
    web::clean(&apart)
}
