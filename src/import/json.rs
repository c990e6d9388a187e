//! The JSON of an archive, one element at a time.
//!
//! ChatGPT and Claude export a list of conversations, Telegram an object for a chat, or one with a
//! list of chats. The form of the first known element tells which program it was. An element is
//! held as the text that it is until its own reader takes it, which limits how deep it may nest.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::rc::Rc;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::package::{ArchiveFile, Limit};
use super::{Each, ImportError, MAX_ELEMENT, chats, telegram};
use crate::store::ArchiveKind;

/// Reads a file to its end, and returns the program that it comes from; none if nothing in it is
/// known.
pub(super) fn read(mut file: ArchiveFile<'_>, each: Each<'_>) -> Result<Option<ArchiveKind>, ImportError> {
    skip_mark(&mut file.bytes).map_err(of_io)?;
    let mut reading = Reading { kind: None, part: Rc::clone(&file.part), is_stopped: false, each };
    let mut json = serde_json::Deserializer::from_reader(&mut file.bytes);
    let read = json.deserialize_any(Root(&mut reading)).and_then(|()| json.end());
    let (kind, is_stopped) = (reading.kind, reading.is_stopped);
    match read {
        _ if is_stopped => Err(ImportError::Stopped),
        Ok(()) => Ok(kind),
        Err(error) => Err(of_json(error)),
    }
}

/// Skips the mark with which some programs begin a file in UTF-8.
fn skip_mark(bytes: &mut impl BufRead) -> io::Result<()> {
    if bytes.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        bytes.consume(3);
    }
    Ok(())
}

fn of_json(error: serde_json::Error) -> ImportError {
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Eof => ImportError::CutOff,
        Category::Io => of_io(error.into()),
        // The reader itself accepts any JSON, but not just any value as the whole of a file.
        Category::Data => ImportError::NotRecognised,
        Category::Syntax => ImportError::NotJson { line, column },
    }
}

fn of_io(error: io::Error) -> ImportError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Limit>()) {
        Some(Limit::Size) => ImportError::TooLarge,
        Some(Limit::Ratio) => ImportError::Bomb,
        // What the unpacker finds wrong.
        None if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
            ImportError::Damaged
        }
        None if error.kind() == io::ErrorKind::UnexpectedEof => ImportError::CutOff,
        None => ImportError::Unreadable(error),
    }
}

/// State while a file is read.
struct Reading<'e> {
    kind: Option<ArchiveKind>,
    part: Rc<Cell<u64>>,
    is_stopped: bool,
    each: Each<'e>,
}

impl Reading<'_> {
    /// Continues unless the receiver broke off.
    fn goes_on<E: Error>(&mut self, flow: ControlFlow<()>) -> Result<(), E> {
        self.part.set(MAX_ELEMENT);
        self.is_stopped |= flow.is_break();
        if self.is_stopped { Err(E::custom("stopped")) } else { Ok(()) }
    }
}

/// The whole of a file.
struct Root<'r, 'e>(&'r mut Reading<'e>);

impl<'de> Visitor<'de> for Root<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<Box<RawValue>>()? {
            let (kind, flow) = chats::read(element.get(), self.0.each);
            self.0.kind = self.0.kind.or(kind);
            self.0.goes_on(flow)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        OneChat(self.0).visit_map(map)
    }
}

/// A chat of Telegram, or the object with the lists of all.
struct OneChat<'r, 'e>(&'r mut Reading<'e>);

impl<'de> Visitor<'de> for OneChat<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut chat = telegram::OpenChat::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "name" => chat.name(map.next_value::<Box<RawValue>>()?.get()),
                "id" => chat.id(map.next_value::<Box<RawValue>>()?.get()),
                "messages" => map.next_value_seed(ChatMessages(&mut *self.0, &mut chat))?,
                "chats" | "left_chats" => map.next_value_seed(ChatList(&mut *self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let flow = chat.end(self.0.each);
        self.0.goes_on(flow)
    }
}

impl<'de> DeserializeSeed<'de> for OneChat<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

/// `{"about": …, "list": [chat, …]}`
struct ChatList<'r, 'e>(&'r mut Reading<'e>);

impl<'de> DeserializeSeed<'de> for ChatList<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ChatList<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of chats")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "list" => map.next_value_seed(Chats(&mut *self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// `[chat, …]`
struct Chats<'r, 'e>(&'r mut Reading<'e>);

impl<'de> DeserializeSeed<'de> for Chats<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Chats<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of chats")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneChat(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// `[message, …]`
struct ChatMessages<'r, 'e>(&'r mut Reading<'e>, &'r mut telegram::OpenChat);

impl<'de> DeserializeSeed<'de> for ChatMessages<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ChatMessages<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(message) = list.next_element::<Box<RawValue>>()? {
            let (is_known, flow) = self.1.read(message.get(), self.0.each);
            self.0.kind = self.0.kind.or(is_known.then_some(ArchiveKind::Telegram));
            self.0.goes_on(flow)?;
        }
        Ok(())
    }
}
