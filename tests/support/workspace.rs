//! The files of the workspace, as a person with an editor meets them.

use std::path::PathBuf;

use super::channel::Channel;
use super::story::StoryOver;

impl<C: Channel> StoryOver<C> {
    /// Where that file of the workspace lies on the disk.
    pub fn path_of(&self, path: &str) -> PathBuf {
        self.home.join("workspace").join(path)
    }

    /// A person writes a file by hand.
    pub fn writes(&self, path: &str, text: &str) {
        let path = self.path_of(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What stands in a file, if there is one.
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path_of(path)).ok()
    }

    /// What stands in a file; nothing if there is none.
    pub fn reads(&self, path: &str) -> String {
        self.file(path).unwrap_or_default()
    }
}
