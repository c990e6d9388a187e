//! Pairing codes: shown once, kept as a digest, used once, worthless after a while.

use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::Tx;
use crate::people::Role;
use crate::time::Moment;

/// What a code that was given turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeUse {
    /// It lets this name in, as this.
    Accepted {
        /// Whom it lets in, or to whom it links the address.
        name: String,
        /// As what.
        role: Role,
    },
    /// There is no such code, or it was used, or it is too old.
    Refused,
}

fn digest(code: &str) -> String {
    let hash = Sha256::digest(code.trim().to_ascii_uppercase().as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Tx<'_> {
    /// Keeps a new code.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn keep_code(&self, code: &str, name: &str, role: Role, now: Moment, expires: Moment) -> anyhow::Result<()> {
        self.0
            .0
            .prepare_cached(
                "INSERT INTO pairing_codes (digest, name, role, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![digest(code), name, role.as_str(), now, expires])?;
        Ok(())
    }

    /// Uses a code, once.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn use_code(&self, code: &str, now: Moment) -> anyhow::Result<CodeUse> {
        let digest = digest(code);
        let row: Option<(String, String)> = self
            .0
            .0
            .prepare_cached(
                "SELECT name, role FROM pairing_codes WHERE digest = ?1 AND used_at IS NULL AND expires_at > ?2",
            )?
            .query_row(params![digest, now], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((name, role)) = row else { return Ok(CodeUse::Refused) };
        let Some(role) = Role::parse(&role) else { return Ok(CodeUse::Refused) };
        self.0
            .0
            .prepare_cached("UPDATE pairing_codes SET used_at = ?2 WHERE digest = ?1")?
            .execute(params![digest, now])?;
        Ok(CodeUse::Accepted { name, role })
    }

    /// Makes all unused codes for that role worthless, as when a new claim code is printed.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn void_codes(&self, role: Role, now: Moment) -> anyhow::Result<()> {
        self.0
            .0
            .prepare_cached(
                "UPDATE pairing_codes SET expires_at = ?2 WHERE role = ?1 AND used_at IS NULL AND expires_at > ?2",
            )?
            .execute(params![role.as_str(), now])?;
        Ok(())
    }
}
