//! A backup that was verified is unpacked into an empty folder.
//!
//! Folders are made before what lies in them, files are made anew and never opened, and links come last of all: so nothing is ever written through a link.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::admin::backup::manifest::{Kind, NAME};
use crate::admin::backup::read::{Member, each};
use crate::admin::backup::{FOLDERS, Progress};
use crate::wording::upkeep as says;

/// Unpacks `file` into `into`, which is made. On the disk when this returns.
pub(super) fn unpack(file: &Path, into: &Path, progress: Progress<'_>) -> anyhow::Result<()> {
    make_folder(into)?;
    let mut links: Vec<(PathBuf, String)> = Vec::new();
    let mut folders: Vec<PathBuf> = vec![into.to_owned()];
    let mut done = 0_u64;
    each(file, &mut |member, bytes| {
        let path = into.join(&member.path);
        match member.kind {
            _ if member.path == NAME => {}
            Kind::Link => links.push((path, member.target.clone())),
            Kind::Folder => {
                make_folder(&path)?;
                folders.push(path);
            }
            Kind::File => write(&path, member, bytes).with_context(|| format!("Cannot unpack {}", member.path))?,
        }
        done = done.saturating_add(member.size);
        progress(says::UNPACKING, done);
        Ok(())
    })?;
    // A folder that was not there when the backup was made is empty now.
    for name in FOLDERS {
        if !into.join(name).is_dir() {
            make_folder(&into.join(name))?;
        }
    }
    for (path, target) in links {
        std::os::unix::fs::symlink(target, path)?;
    }
    for folder in folders {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn make_folder(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(path).with_context(|| format!("Cannot make {}", path.display()))
}

fn write(path: &Path, member: &Member, bytes: &mut dyn Read) -> anyhow::Result<()> {
    let mode = if member.executable { 0o700 } else { 0o600 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    let written = io::copy(&mut bytes.take(member.size), &mut file)?;
    anyhow::ensure!(written == member.size, "It changed since it was read");
    Ok(file.sync_all()?)
}
