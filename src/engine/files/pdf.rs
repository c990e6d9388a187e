//! The text of a PDF, page by page.
//!
//! Streams are compressed up to a thousandfold, so one that would fill the memory is left out before
//! anything decodes it: what stands before and after it is read.

use std::io::{self, Read, Write};

use flate2::read::{DeflateDecoder, ZlibDecoder};
use pdf_extract::{
    Dictionary, Document as Pdf, LoadOptions, Object, ObjectId, PlainTextOutput, Stream, output_doc_page,
};
use weezl::{BitOrder, decode};

use super::parsed::{Unread, caught, plain};

/// Maximum number of pages. Later pages are not read.
const MAX_PAGES: u32 = 2_000;
/// Maximum size of a decoded stream, and of all contents of a page, in bytes: a page of text has
/// some kilobytes, a font some megabytes.
const MAX_STREAM: usize = 32 << 20;
/// Stands in place of a stream that is left out.
const LEFT_OUT: &[u8] = b"compline-left-out";

/// Passes the text of each page to `each`. Stops when it returns `false`.
pub(super) fn read(bytes: &[u8], mut each: impl FnMut(&str) -> bool) -> Result<(), Unread> {
    let options = || LoadOptions::with_filter(leave_out);
    let mut pdf = caught(|| Pdf::load_mem_with_options(bytes, options()).ok()).ok_or(Unread::Broken)?;
    if pdf.is_encrypted() {
        if caught(|| pdf.decrypt("").ok()).is_none() {
            return Err(Unread::Locked);
        }
        pdf.objects.iter_mut().for_each(|(id, object)| drop(leave_out(*id, object)));
    }
    let pages: Vec<(u32, ObjectId)> = pdf.get_pages().into_iter().collect();
    let mut whole = !pages.is_empty() && pages.len() <= usize::try_from(MAX_PAGES).unwrap_or(usize::MAX);
    whole &= !pdf.objects.values().any(|object| object.as_name().is_ok_and(|name| name == LEFT_OUT));
    for (number, id) in pages.into_iter().take_while(|(number, _)| *number <= MAX_PAGES) {
        let contents = pdf.get_page_contents(id);
        let streams = contents.iter().filter_map(|id| pdf.get_object(*id).and_then(Object::as_stream).ok());
        if !fits(streams) {
            whole = false;
            continue;
        }
        let (words, is_all) = read_page(&pdf, number);
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

/// Replaces a stream that is too large. The parser calls it before it decodes anything.
fn leave_out(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    if matches!(object, Object::Stream(stream) if !fits([&*stream])) {
        *object = Object::Name(LEFT_OUT.to_vec());
    }
    Some((id, object.clone()))
}

/// Returns whether all these streams together are at most [`MAX_STREAM`] bytes when decoded.
fn fits<'a>(streams: impl IntoIterator<Item = &'a Stream>) -> bool {
    let mut left = MAX_STREAM;
    streams.into_iter().all(|stream| {
        let size = decoded_size(stream, left);
        left = left.saturating_sub(size.unwrap_or(0));
        size.is_some()
    })
}

/// Returns the size of a stream when the filters that the parser knows are undone; `None` if it is
/// larger than `most`.
fn decoded_size(stream: &Stream, most: usize) -> Option<usize> {
    let mut bytes = Sink { kept: stream.content.clone(), most: usize::MAX };
    for filter in stream.filters().unwrap_or_default() {
        let coded = std::mem::replace(&mut bytes, Sink { kept: Vec::new(), most });
        let fits = match filter {
            b"FlateDecode" => inflate(&coded.kept, &mut bytes),
            b"LZWDecode" => {
                let mut decoder = decode::Decoder::with_tiff_size_switch(BitOrder::Msb, 8);
                decoder.into_stream(&mut bytes).decode_all(&coded.kept[..]).status.is_ok() || bytes.kept.len() < most
            }
            // At most four bytes for each sign, so the parser may do it.
            b"ASCII85Decode" => {
                let mut filter = Dictionary::new();
                filter.set("Filter", Object::Name(b"ASCII85Decode".to_vec()));
                bytes.kept = Stream::new(filter, coded.kept).decompressed_content().unwrap_or_default();
                bytes.kept.len() <= most
            }
            // The parser refuses any other.
            _ => return Some(0),
        };
        if !fits {
            return None;
        }
    }
    (bytes.kept.len() <= most).then_some(bytes.kept.len())
}

/// Inflates as the parser does: a broken end counts as the end, and a broken head is skipped.
/// Returns false if the output is full.
fn inflate(coded: &[u8], output: &mut Sink) -> bool {
    let all = io::copy(&mut ZlibDecoder::new(coded).by_ref(), output);
    if all.is_err() && output.kept.is_empty() && coded.len() > 2 {
        // An error is either of the data, which ends here for the parser, too, or a full output.
        let _ = io::copy(&mut DeflateDecoder::new(coded.get(2..).unwrap_or_default()), output);
    }
    output.kept.len() < output.most
}

/// Bytes up to a limit.
struct Sink {
    kept: Vec<u8>,
    most: usize,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most.saturating_sub(self.kept.len());
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.kept.extend_from_slice(taken);
        if taken.is_empty() && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
