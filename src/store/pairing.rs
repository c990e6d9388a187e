//! Pairing codes: shown once, kept as a digest, used once, worthless after a while.

use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::Tx;
use crate::id::AddressId;
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

    /// Whom a code would let in or join an address to, while it is good.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn code_for(&self, code: &str, now: Moment) -> anyhow::Result<Option<String>> {
        let mut query = self.0.0.prepare_cached(
            "SELECT name FROM pairing_codes WHERE digest = ?1 AND used_at IS NULL AND expires_at > ?2",
        )?;
        Ok(query.query_row(params![digest(code), now], |row| row.get(0)).optional()?)
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

    /// A code was given at that address, and it was told what it would mean. True if it was told before.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn code_asked_at(&self, code: &str, address: AddressId) -> anyhow::Result<bool> {
        let digest = digest(code);
        let mut query = self.0.0.prepare_cached("SELECT asked_at_address = ?2 FROM pairing_codes WHERE digest = ?1")?;
        let before: Option<Option<bool>> = query.query_row(params![digest, address], |row| row.get(0)).optional()?;
        self.0
            .0
            .prepare_cached("UPDATE pairing_codes SET asked_at_address = ?2 WHERE digest = ?1")?
            .execute(params![digest, address])?;
        Ok(before.flatten().unwrap_or(false))
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
