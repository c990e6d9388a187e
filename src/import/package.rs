//! The files of an archive: in a zip file, in a folder, or one alone. Each is passed on as a stream
//! with limits.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use zip::ZipArchive;
use zip::result::ZipError;

use super::{ImportError, MAX_ELEMENT};

/// Factor by which a file may grow when it is unpacked; JSON grows tenfold, seldom thirtyfold.
const MAX_RATIO: u64 = 200;
/// Size up to which the factor does not count, in bytes.
const SMALL: u64 = 1 << 20;

/// A limit that a stream reached, inside of an [`io::Error`].
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(super) enum Limit {
    #[error("too large")]
    Size,
    #[error("grows too much")]
    Ratio,
}

/// A file of an archive, as a stream.
pub(super) struct ArchiveFile<'f> {
    pub(super) bytes: BufReader<Limited<'f>>,
    /// Bytes that may be read before the next part begins, which resets it.
    pub(super) part: Rc<Cell<u64>>,
}

/// A stream that fails at its limits.
pub(super) struct Limited<'f> {
    bytes: Box<dyn Read + 'f>,
    part: Rc<Cell<u64>>,
    total: &'f mut u64,
    ratio: Option<u64>,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        let size = u64::try_from(read).unwrap_or(u64::MAX);
        let take = |left: u64, limit: Limit| left.checked_sub(size).ok_or_else(|| io::Error::other(limit));
        *self.total = take(*self.total, Limit::Size)?;
        self.part.set(take(self.part.get(), Limit::Size)?);
        self.ratio = self.ratio.map(|left| take(left, Limit::Ratio)).transpose()?;
        Ok(read)
    }
}

/// Passes the files with conversations to `each`, in the order of their names.
pub(super) fn each_file(
    path: &Path,
    left: &mut u64,
    each: &mut dyn FnMut(ArchiveFile<'_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let kind = std::fs::metadata(path).map_err(ImportError::Unreadable)?;
    if kind.is_dir() {
        let mut names: Vec<String> = std::fs::read_dir(path)
            .map_err(ImportError::Unreadable)?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| has_conversations(name))
            .collect();
        names.sort();
        return names.iter().try_for_each(|name| {
            let file = open(&path.join(name))?;
            each(limited(Box::new(file), left, None))
        });
    }
    let mut file = open(path)?;
    let mut magic = [0; 4];
    let is_zip = file.read_exact(&mut magic).is_ok() && magic.starts_with(b"PK");
    let file = open(path)?;
    if !is_zip {
        return each(limited(Box::new(file), left, None));
    }
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(of_zip)?;
    let mut names: Vec<String> =
        archive.file_names().flatten().filter(|name| has_conversations(name)).map(|name| name.into_owned()).collect();
    names.sort();
    for name in names {
        let entry = archive.by_name(&name).map_err(of_zip)?;
        let ratio = entry.compressed_size().saturating_mul(MAX_RATIO).saturating_add(SMALL);
        each(limited(Box::new(entry), left, Some(ratio)))?;
    }
    Ok(())
}

fn limited<'f>(bytes: Box<dyn Read + 'f>, total: &'f mut u64, ratio: Option<u64>) -> ArchiveFile<'f> {
    let part = Rc::new(Cell::new(MAX_ELEMENT));
    let bytes = BufReader::with_capacity(64 << 10, Limited { bytes, part: Rc::clone(&part), total, ratio });
    ArchiveFile { bytes, part }
}

/// Opens a regular file; a device or a pipe would never end.
fn open(path: &Path) -> Result<File, ImportError> {
    let file = File::open(path).map_err(ImportError::Unreadable)?;
    let is_file = file.metadata().map_err(ImportError::Unreadable)?.is_file();
    if is_file { Ok(file) } else { Err(ImportError::NotRecognised) }
}

/// Returns true for the name of a file with conversations: `conversations.json`, its numbered parts
/// in newer exports, and Telegram's `result.json`. Folders before the name are ignored.
fn has_conversations(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let part = name.strip_prefix("conversations").and_then(|rest| rest.strip_suffix(".json"));
    let is_part =
        |part: &str| part.is_empty() || part.strip_prefix('-').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    name == "result.json" || part.is_some_and(is_part)
}

fn of_zip(error: ZipError) -> ImportError {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => ImportError::Unreadable(error),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => ImportError::Locked,
        _ => ImportError::Damaged,
    }
}
