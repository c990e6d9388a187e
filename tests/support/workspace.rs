//! Files of the workspace, as edited by hand.

use std::path::PathBuf;

use super::channel::Channel;
use super::story::StoryOver;

impl<C: Channel> StoryOver<C> {
    /// Path of a workspace file on the disk.
    pub fn path_of(&self, path: &str) -> PathBuf {
        self.home.join("workspace").join(path)
    }

    /// Writes a file by hand.
    pub fn writes(&self, path: &str, text: &str) {
        let path = self.path_of(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Content of a file, if it exists.
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path_of(path)).ok()
    }

    /// Content of a file; empty if it does not exist.
    pub fn reads(&self, path: &str) -> String {
        self.file(path).unwrap_or_default()
    }
}
