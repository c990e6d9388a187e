//! Lists by pages, most of them newest first: each page begins after a place in the list.

use std::fmt::{self, Display, Formatter};
use std::num::ParseIntError;
use std::str::FromStr;

use crate::wording::Language;
use crate::wording::command as says;
use crate::wording::review::Surface;

/// The page of a list that a command asks for. `P` is a place in the list: the number of an item,
/// or a [`ListPlace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<P = i64> {
    /// Only items older than the one at this place; `None` for the newest.
    pub before: Option<P>,
    /// Maximum number of items.
    pub limit: u32,
}

impl<P> PageRequest<P> {
    /// The first page.
    pub fn newest(limit: u32) -> Self {
        Self { before: None, limit }
    }

    /// Cuts the page out of a list that begins with it, in any order.
    pub(super) fn first<T>(self, mut items: Vec<T>, place: impl Fn(&T) -> P) -> Page<T, P> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().map(place).filter(|_| has_more);
        Page { items, next }
    }
}

impl PageRequest {
    /// Reads a page. `read` returns items with numbers below its first argument, newest first, at
    /// most as many as its second says.
    pub(super) fn read<T>(
        self,
        number: impl Fn(&T) -> i64,
        read: impl FnOnce(i64, u32) -> anyhow::Result<Vec<T>>,
    ) -> anyhow::Result<Page<T>> {
        let (before, limit) = self.bounds();
        Ok(self.cut(read(before, limit)?, number))
    }

    /// The bounds of a query for the page: the number below which it looks, and how many items it
    /// reads. One item more than the page has tells whether there is a next one.
    pub(super) fn bounds(self) -> (i64, u32) {
        (self.before.unwrap_or(i64::MAX), self.limit.saturating_add(1))
    }

    /// Cuts the page out of a list, newest first.
    pub(super) fn cut<T>(self, mut items: Vec<T>, number: impl Fn(&T) -> i64) -> Page<T> {
        let before = self.bounds().0;
        items.retain(|item| number(item) < before);
        self.first(items, number)
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, P = i64> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// The `before` of the next page, if there is one.
    pub next: Option<P>,
}

impl<T, P: Display> Page<T, P> {
    /// Derives each item of a page.
    pub(super) fn try_map<U>(self, make: impl FnMut(T) -> anyhow::Result<U>) -> anyhow::Result<Page<U, P>> {
        Ok(Page { items: self.items.into_iter().map(make).collect::<anyhow::Result<_>>()?, next: self.next })
    }

    /// The last line of a page that has a next one: the command of the chat, or the flag of the
    /// command line, that shows it. `command` is the one that showed this page.
    pub(super) fn more(&self, command: &str, surface: Surface) -> Option<String> {
        let next = self.next.as_ref()?;
        Some(match surface {
            Surface::Chat(language) => says::more(language, &format!("{command} before {next}")),
            Surface::CommandLine => says::more(Language::ENGLISH, &format!("--before {next}")),
        })
    }
}

/// A part of a person's reminders that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemindersPart {
    /// Place after which it begins; `None` for the first.
    pub after: Option<ListPlace>,
    /// Maximum number.
    pub limit: u32,
}

impl RemindersPart {
    /// All of them.
    pub const ALL: Self = Self { after: None, limit: u32::MAX - 1 };

    /// The page of a command that begins after a place.
    pub(super) fn page(after: Option<ListPlace>) -> Self {
        Self { after, limit: 30 }
    }
}

/// Place in a list in the order of a value and a number, which stays the same while others come and
/// go: `VALUE-NUMBER`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlace {
    /// Value that decides the order, such as a time.
    pub value: i64,
    /// Number of the item there.
    pub number: i64,
}

impl Display for ListPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.value, self.number)
    }
}

impl FromStr for ListPlace {
    type Err = ParseIntError;

    fn from_str(typed: &str) -> Result<Self, ParseIntError> {
        let (value, number) = typed.split_once('-').unwrap_or_default();
        Ok(Self { value: value.parse()?, number: number.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Proves: operation/next-page
        #[test]
        fn pages_show_every_item_once(count in 0_i64..40, limit in 1_u32..9, grown in 0_i64..9) {
            let newest = |most: i64, before: i64, limit: u32| -> anyhow::Result<Vec<i64>> {
                let items = (1..=most).rev().filter(|item| *item < before);
                Ok(items.take(usize::try_from(limit)?).collect())
            };
            let (mut shown, mut request, mut most) = (Vec::new(), PageRequest::newest(limit), count);
            loop {
                let page = request.read(|item| *item, |before, limit| newest(most, before, limit)).unwrap();
                prop_assert!(page.items.len() <= usize::try_from(limit).unwrap());
                let whole = request.cut((1..=most).rev().collect(), |item| *item);
                prop_assert_eq!(&whole, &page);
                shown.extend(page.items);
                most += grown;
                match page.next {
                    Some(before) => request.before = Some(before),
                    None => break,
                }
            }
            prop_assert_eq!(shown, (1..=count).rev().collect::<Vec<_>>());
        }
    }
}
