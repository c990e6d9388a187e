//! One change of each kind over Signal, where a number or an account identifies a person.

use super::changes::{is_forgotten, is_linked, is_paired_for_somebody_new, is_removed, is_renamed};
use super::*;
use crate::support::signal::FakeSignal;

/// Proves: privacy/people-change
#[tokio::test]
async fn the_first_owner_is_renamed() {
    is_renamed::<FakeSignal>("Ada", "Adah").await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn another_owner_is_removed() {
    is_removed::<FakeSignal>("Carl", "carl", CARL).await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn the_name_of_a_removed_person_can_be_paired_for_a_new_one() {
    is_paired_for_somebody_new::<FakeSignal>().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn another_address_is_linked() {
    is_linked::<FakeSignal>().await;
}

/// Proves: privacy/people-change
#[tokio::test]
async fn a_member_is_forgotten_and_comes_back() {
    is_forgotten::<FakeSignal>("Ben", "ben", BEN).await;
}
