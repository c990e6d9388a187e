//! The key that authenticates backups, and its recovery code.
//!
//! The key is 32 random bytes in `backup.key` in the home, readable by its owner only, and never
//! part of an archive. An archive is authentic if the HMAC-SHA256 of its manifest under that key is
//! correct; the manifest holds the digest of everything else. The recovery code is the same key in
//! a form for people, with a checksum that detects typing errors, for use on a new computer.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, ensure};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::config::Home;
use crate::wording::restore as says;

/// Name of the key file in the home and in the staging folder of a restore.
pub const KEY_FILE: &str = "backup.key";
/// Length of a key, in bytes.
pub const LENGTH: usize = 32;
/// Length of the checksum in a recovery code, in bytes.
const CHECKSUM: usize = 3;
/// The characters of a recovery code: without I, L, O and U, which are easily misread.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Number of characters in a recovery code, without the hyphens between its groups.
const CHARACTERS: usize = (LENGTH + CHECKSUM) * 8 / 5;

/// A key that authenticates backups.
#[derive(Clone, PartialEq, Eq)]
pub struct BackupKey([u8; LENGTH]);

impl fmt::Debug for BackupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackupKey(hidden)")
    }
}

impl BackupKey {
    /// Loads the key of a home; `None` if there is none yet.
    ///
    /// # Errors
    /// If others can read the file, or it does not hold a key.
    pub fn load(home: &Home) -> anyhow::Result<Option<Self>> {
        use rustix::fs::{Mode, OFlags};
        use std::os::unix::fs::MetadataExt;
        let path = home.backup_key();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(opened) => File::from(opened),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(anyhow::Error::new(error).context(says::key_unreadable(&path))),
        };
        let found = file.metadata()?;
        ensure!(found.is_file() && found.len() == LENGTH as u64, says::no_key_in(&path));
        ensure!(found.mode() & 0o077 == 0, says::key_exposed(&path));
        let mut bytes = [0_u8; LENGTH];
        file.read_exact(&mut bytes).with_context(|| says::key_unreadable(&path))?;
        Ok(Some(Self(bytes)))
    }

    /// Loads the key of a home, or creates one. The flag is true if it was created.
    ///
    /// # Errors
    /// If the key cannot be read or written.
    pub fn load_or_make(home: &Home) -> anyhow::Result<(Self, bool)> {
        if let Some(known) = Self::load(home)? {
            return Ok((known, false));
        }
        let made = Self(rand::random());
        let (path, part) = (home.backup_key(), home.path().join(format!(".{KEY_FILE}.{:08x}", rand::random::<u32>())));
        let placed = made.write(&part).and_then(|()| super::put_in_place(&part, &path));
        let _ = std::fs::remove_file(&part);
        match (placed, Self::load(home)?) {
            (Ok(()), _) => Ok((made, true)),
            // Another backup created one at the same time.
            (Err(_), Some(known)) => Ok((known, false)),
            (Err(error), None) => Err(error),
        }
    }

    /// Writes the key to a new file, readable by its owner only, and syncs it to the disk.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        use std::os::unix::fs::OpenOptionsExt;
        let file = File::options().write(true).create_new(true).mode(0o600).open(path);
        let mut file = file.with_context(|| format!("Cannot write {}", path.display()))?;
        file.write_all(&self.0)?;
        Ok(file.sync_all()?)
    }

    /// Returns whether these bytes are the key itself.
    pub fn is(&self, bytes: &[u8]) -> bool {
        self.0 == bytes
    }

    /// An identifier of the key that reveals nothing about it: it shows which of several keys an
    /// archive was made with.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn id(&self) -> anyhow::Result<String> {
        let mac = self.mac(b"compline backup key id\0", b"")?;
        Ok(hex::encode(mac.finalize().into_bytes()).chars().take(16).collect())
    }

    /// Computes the authentication of a manifest.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn authenticate(&self, manifest: &[u8]) -> anyhow::Result<String> {
        Ok(hex::encode(self.mac(b"compline backup manifest\0", manifest)?.finalize().into_bytes()))
    }

    /// Returns whether `code` authenticates the manifest; compared in constant time.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn verifies(&self, manifest: &[u8], code: &[u8]) -> anyhow::Result<bool> {
        Ok(self.mac(b"compline backup manifest\0", manifest)?.verify_slice(code).is_ok())
    }

    fn mac(&self, purpose: &[u8], bytes: &[u8]) -> anyhow::Result<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).map_err(|_| anyhow::anyhow!("A key has a length"))?;
        mac.update(purpose);
        mac.update(bytes);
        Ok(mac)
    }

    /// The recovery code, in groups of four characters.
    pub fn recovery_code(&self) -> String {
        let bytes = self.0.into_iter().chain(checksum(&self.0));
        let (mut code, mut bits, mut held) = (String::new(), 0_u32, 0_u32);
        for byte in bytes {
            held = (held << 8) | u32::from(byte);
            bits = bits.saturating_add(8);
            while bits >= 5 {
                bits = bits.saturating_sub(5);
                let letter = ALPHABET.get(((held >> bits) & 31) as usize).copied().unwrap_or_default();
                if code.len() % 5 == 4 {
                    code.push('-');
                }
                code.push(char::from(letter));
            }
            held &= (1 << bits) - 1;
        }
        code
    }

    /// Parses a recovery code, regardless of spacing and case.
    ///
    /// # Errors
    /// If the code is mistyped.
    pub fn from_recovery_code(code: &str) -> anyhow::Result<Self> {
        let letters: Vec<u32> = code
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .map(|c| value(c).with_context(|| says::code_letter(c)))
            .collect::<anyhow::Result<_>>()?;
        ensure!(letters.len() == CHARACTERS, says::code_length(letters.len(), CHARACTERS));
        let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0_u32);
        for letter in letters {
            held = (held << 5) | letter;
            bits = bits.saturating_add(5);
            if bits >= 8 {
                bits = bits.saturating_sub(8);
                bytes.push(u8::try_from((held >> bits) & 255).unwrap_or_default());
                held &= (1 << bits) - 1;
            }
        }
        let (key, check) = bytes.split_at_checked(LENGTH).context(says::CODE_MISTYPED)?;
        let key: [u8; LENGTH] = key.try_into().context(says::CODE_MISTYPED)?;
        ensure!(check == checksum(&key), says::CODE_MISTYPED);
        Ok(Self(key))
    }
}

fn checksum(key: &[u8; LENGTH]) -> [u8; CHECKSUM] {
    let hash = Sha256::new().chain_update(b"compline recovery code\0").chain_update(key).finalize();
    let mut check = [0; CHECKSUM];
    for (to, from) in check.iter_mut().zip(hash) {
        *to = from;
    }
    check
}

/// The value of a character of a recovery code.
fn value(letter: char) -> Option<u32> {
    let letter = match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let place = ALPHABET.iter().position(|known| char::from(*known) == letter)?;
    u32::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::PermissionsExt;

    proptest! {
        #[test]
        fn a_code_leads_back_to_its_key_and_no_typing_error_does(bytes: [u8; LENGTH], at in 0..56_usize, to in 0..31_u32) {
            let key = BackupKey(bytes);
            let code = key.recovery_code();
            prop_assert_eq!(code.len(), 69);
            prop_assert!(BackupKey::from_recovery_code(&code).unwrap() == key);
            let sloppy = code.replace('-', " ").to_lowercase().replace('0', "o").replace('1', "l");
            prop_assert!(BackupKey::from_recovery_code(&sloppy).unwrap() == key);
            let mut letters: Vec<char> = code.chars().filter(|c| *c != '-').collect();
            let right = value(letters[at]).unwrap();
            letters[at] = char::from(ALPHABET[((right + 1 + to) % 32) as usize]);
            let wrong: String = letters.iter().collect();
            // A checksum of three bytes misses one error in sixteen million. The result would be
            // another key, which verifies nothing.
            prop_assert!(BackupKey::from_recovery_code(&wrong).map_or(true, |other| other != key));
        }
    }

    #[test]
    fn each_kind_of_invalid_recovery_code_is_distinguished() {
        let code = BackupKey([7; LENGTH]).recovery_code();
        let told = |code: &str| BackupKey::from_recovery_code(code).err().unwrap().to_string();
        assert_eq!(told(&code.replacen('0', "U", 1)), says::code_letter('U'));
        let short: String = code.chars().take(60).collect();
        assert_eq!(told(&short), says::code_length(48, 56));
        let mut letters: Vec<char> = code.chars().collect();
        letters.swap(0, 1);
        assert_eq!(told(&letters.into_iter().collect::<String>()), says::CODE_MISTYPED);
    }

    #[test]
    fn a_key_is_made_once_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        assert_eq!(BackupKey::load(&home).unwrap(), None);
        let (key, made) = BackupKey::load_or_make(&home).unwrap();
        assert!(made && BackupKey::load_or_make(&home).unwrap() == (key.clone(), false));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let mode = |mode| std::fs::set_permissions(home.backup_key(), std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(home.backup_key()).unwrap().permissions().mode() & 0o777, 0o600);
        mode(0o640);
        assert!(BackupKey::load(&home).unwrap_err().to_string().contains("others"));
        mode(0o600);
        std::fs::write(home.backup_key(), "short").unwrap();
        assert!(BackupKey::load_or_make(&home).is_err(), "a key that is broken is not replaced");
    }

    #[test]
    fn only_the_whole_authentication_of_that_manifest_counts() {
        let key = BackupKey([7; LENGTH]);
        let code = hex::decode(key.authenticate(b"a manifest").unwrap()).unwrap();
        assert!(key.verifies(b"a manifest", &code).unwrap());
        assert!(!key.verifies(b"another", &code).unwrap());
        assert!(!key.verifies(b"a manifest", &code[..31]).unwrap() && !key.verifies(b"a manifest", b"").unwrap());
        assert!(!BackupKey([8; LENGTH]).verifies(b"a manifest", &code).unwrap());
        assert!(!format!("{key:?}").contains('7'));
    }
}
