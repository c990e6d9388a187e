//! Free space on a disk.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Free space, in bytes, on the disk that holds a folder.
pub fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Probe of the free space on a disk.
#[derive(Clone)]
pub struct FreeSpace(Arc<dyn Fn() -> Option<u64> + Send + Sync>);

impl FreeSpace {
    /// Probes the disk that holds a folder.
    pub fn at(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self(Arc::new(move || free_space(&folder)))
    }

    /// Reports what a function says, in bytes.
    pub fn reported_by(report: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Returns the free space in bytes; `None` if unknown.
    pub fn bytes(&self) -> Option<u64> {
        (self.0)()
    }
}

impl fmt::Debug for FreeSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FreeSpace")
    }
}
