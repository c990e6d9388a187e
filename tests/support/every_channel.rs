//! Stories that hold on every channel.
//!
//! Such a story takes its channel as an argument and is listed once in its file by
//! [`on_every_channel`], which makes a test of it for each channel. It may use the features that
//! all fake servers share, with the same small numbers for people ([`EitherFake`]). A feature of one
//! channel (a button, a forward) maps to the nearest one of the other, as documented at the server's
//! method; without such a feature the story belongs to one channel alone.

use std::sync::Arc;

use super::channel::Channel;
use super::power::CrashTestOver;
use super::signal::FakeSignal;
use super::story::StoryOver;
use super::telegram::FakeTelegram;

/// A story over the channel of its test.
pub type Story = StoryOver<EitherFake>;

/// A program with power cuts over the channel of its test.
pub type CrashTest = CrashTestOver<EitherFake>;

/// Makes a test of each story for each channel: `on_telegram::NAME` and `on_signal::NAME`. Crash
/// tests have runtimes of their own, so they are no async functions.
macro_rules! on_every_channel {
    ($(stories: $($story:ident),+ $(,)?;)? $(crash_tests: $($crash_test:ident),+ $(,)?;)?) => {
        $crate::support::every_channel::on_every_channel! {
            @channel on_telegram Telegram; [$($($story)+)?] [$($($crash_test)+)?]
        }
        $crate::support::every_channel::on_every_channel! {
            @channel on_signal Signal; [$($($story)+)?] [$($($crash_test)+)?]
        }
    };
    (@channel $module:ident $channel:ident; [$($story:ident)*] [$($crash_test:ident)*]) => {
        mod $module {
            use $crate::support::every_channel::TestChannel;
            $(
                #[test]
                fn $story() {
                    $crate::support::every_channel::tell(Box::pin(super::$story(TestChannel::$channel)));
                }
            )*
            $(
                #[test]
                fn $crash_test() {
                    super::$crash_test(TestChannel::$channel);
                }
            )*
        }
    };
}
pub(crate) use on_every_channel;

/// Runs a story to its end.
pub fn tell(story: std::pin::Pin<Box<dyn Future<Output = ()>>>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(story);
}

/// Channel of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestChannel {
    Telegram,
    Signal,
}

impl TestChannel {
    /// Starts the gateway for Ada, Ben and Eve at noon and waits until it listens.
    pub async fn begin_story(self) -> Story {
        self.story_with("").await
    }

    /// Starts like `begin_story`, with additional settings as TOML.
    pub async fn story_with(self, settings: &str) -> Story {
        let mut story = self.prepare_story(settings);
        story.start().await;
        story
    }

    /// Builds the story without starting the gateway.
    pub fn prepare_story(self, settings: &str) -> Story {
        Story::over(self.start_fake(), settings)
    }

    /// Builds a program with power cuts, without its first life.
    pub fn crash_test(self, settings: &str) -> CrashTest {
        CrashTest::over(self.start_fake(), settings)
    }

    fn start_fake(self) -> EitherFake {
        match self {
            Self::Telegram => EitherFake::Telegram(FakeTelegram::start_sync()),
            Self::Signal => EitherFake::Signal(FakeSignal::start_sync()),
        }
    }

    fn pick<T>(self, telegram: T, signal: T) -> T {
        match self {
            Self::Telegram => telegram,
            Self::Signal => signal,
        }
    }

    /// Module of the tests over this channel.
    pub fn module(self) -> &'static str {
        self.pick("on_telegram", "on_signal")
    }

    /// Sending method, as named by `calls`.
    pub fn sending_call(self) -> &'static str {
        self.pick("sendmessage", "send")
    }

    /// Label of a message sent by `forwards`, without its item.
    pub fn passed_on(self) -> &'static str {
        self.pick("forward", "preview")
    }

    /// Kind under which the journal stores such a message.
    pub fn passed_on_as(self) -> &'static str {
        self.pick("said", "carried")
    }

    /// Maximum number of cases per kind in tests that simulate days.
    pub fn many(self) -> usize {
        self.pick(99, 2)
    }

    /// True if items that were not stored are delivered again.
    pub fn gives_again(self) -> bool {
        self == Self::Telegram
    }

    /// Journal jobs that this channel never needs.
    pub fn never_commits(self) -> &'static [&'static str] {
        self.pick(&[], &["begin a preview", "keep a preview", "drop a preview"])
    }

    /// Number of batches committed before the first message: over Signal, the confirmation of the
    /// subscription.
    pub fn batches_before(self) -> u32 {
        self.pick(0, 1)
    }
}

/// The fake server of a story's channel. Clones share it.
#[derive(Clone)]
pub enum EitherFake {
    Telegram(FakeTelegram),
    Signal(FakeSignal),
}

/// One message of the bot after all edits.
#[derive(Clone, Debug)]
pub struct Sent {
    pub message_id: i64,
    /// Visible text.
    pub text: String,
    /// False if the message is plain text.
    pub is_marked_up: bool,
    pub at_ms: i64,
}

/// Evaluates an expression for whichever server it is.
macro_rules! either {
    ($either:ident, $fake:ident => $value:expr) => {
        match $either {
            Self::Telegram($fake) => $value,
            Self::Signal($fake) => $value,
        }
    };
}

/// Methods that both servers have.
macro_rules! shared {
    ($($visibility:vis fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $returned:ty)?;)+) => {
        $($visibility fn $name(&self $(, $argument: $type)*) $(-> $returned)? {
            either!(self, fake => fake.$name($($argument),*))
        })+
    };
}

impl EitherFake {
    shared! {
        pub fn adds_bot(&self, group: i64, person: i64) -> i64;
        pub fn album(&self, person: i64, caption: &str, photos: &[&[u8]]) -> Vec<i64>;
        pub fn edits(&self, chat: i64, message: i64, text: &str) -> i64;
        pub fn forwards(&self, person: i64, author: i64, text: &str) -> i64;
        pub fn forwards_hidden(&self, person: i64, author: &str, text: &str) -> i64;
        pub fn group(&self, id: i64, title: &str) -> i64;
        pub fn person(&self, id: i64, first_name: &str, username: Option<&str>) -> i64;
        pub fn reacts(&self, chat: i64, person: i64, message: i64, emoji: &str) -> i64;
        pub fn redeliver(&self, update: i64);
        pub fn replies(&self, person: i64, to: i64, text: &str) -> i64;
        pub fn says(&self, person: i64, text: &str) -> i64;
        pub fn says_in(&self, group: i64, person: i64, text: &str) -> i64;
        pub fn sends_document(&self, person: i64, name: &str, mime: &str, bytes: &[u8]) -> i64;
        pub fn sends_photo(&self, person: i64, caption: &str, bytes: &[u8]) -> i64;
        pub fn sends_voice(&self, person: i64, seconds: u32, bytes: &[u8]) -> i64;

        pub fn held(&self) -> usize;
        pub fn last_update_id(&self) -> Option<i64>;
        pub fn texts(&self, chat: i64) -> Vec<String>;
        pub fn typing(&self, chat: i64) -> usize;

        pub fn block(&self, person: i64);
        pub fn clear_faults(&self);
        pub fn drop_after_accept_next(&self, times: usize);
        pub fn drop_before_accept_next(&self, times: usize);
        pub fn files_fail_next(&self, times: usize);
        pub fn flood(&self, chat: i64, retry_after_secs: i64);
        pub fn hold_answers(&self);
        pub fn loses_answers_to(&self, words: &str);
        pub fn never_takes(&self, words: &str);
        pub fn release_sends(&self);
        pub fn restart(&self);
        pub fn server_error_next(&self, times: usize);
        pub fn stop(&self);
        pub fn strict(&self, on: bool);
        pub fn takes_everything(&self);
        pub fn takes_nothing_for(&self, person: i64);
        pub fn unblock(&self, person: i64);
    }

    /// Blocks the bot.
    pub fn blocks(&self, person: i64) {
        match self {
            Self::Telegram(fake) => drop(fake.blocks(person)),
            Self::Signal(fake) => fake.blocks(person),
        }
    }

    /// Unblocks the bot.
    pub fn unblocks(&self, person: i64) {
        match self {
            Self::Telegram(fake) => drop(fake.unblocks(person)),
            Self::Signal(fake) => fake.unblocks(person),
        }
    }

    /// Presses a button, or types its command where there are no buttons.
    pub fn presses(&self, person: i64, message: i64, data: &str) {
        match self {
            Self::Telegram(fake) => drop(fake.presses(person, message, data)),
            Self::Signal(fake) => fake.presses(person, message, data),
        }
    }

    /// Replies to an alleged message of another author, from elsewhere.
    pub fn quotes(&self, person: i64, author: &str, quoted: &str, text: &str) -> i64 {
        either!(self, fake => fake.from(person).external_quote(author, quoted).text(text).send())
    }

    /// Messages of the bot in a chat.
    pub fn sent(&self, chat: i64) -> Vec<Sent> {
        either!(self, fake => fake.sent(chat).into_iter().map(|sent| Sent {
            is_marked_up: sent.is_marked_up(),
            message_id: sent.message_id,
            text: sent.text,
            at_ms: sent.at_ms,
        }).collect())
    }

    /// Calls that a well-behaved bot would not make.
    pub fn violations(&self) -> Vec<String> {
        either!(self, fake => fake.violations().iter().map(|violation| format!("{violation:?}")).collect())
    }

    /// Waits until every message is stored.
    pub async fn acked(&self) {
        either!(self, fake => fake.acked().await);
    }
}

impl Channel for EitherFake {
    shared! {
        fn name(&self) -> &'static str;
        fn is_told(&self) -> bool;
        fn follow(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>);
        fn settings(&self) -> String;
        fn address(&self, person: i64) -> String;
        fn peer(&self, person: i64) -> String;
        fn external_id(&self, person: i64, message: i64) -> String;
        fn meet(&self, person: i64, name: &str);
        fn person_says(&self, person: i64, text: &str) -> i64;
        fn group_address(&self, group: i64) -> String;
        fn meet_group(&self, group: i64);
        fn asks_in(&self, group: i64, person: i64, text: &str);
        fn sends_unsupported(&self, person: i64);
        fn sends_file(&self, person: i64, name: &str, text: &str);
        fn passes_on(&self, person: i64, author: i64, text: &str);
        fn messages_to(&self, person: i64) -> Vec<String>;
        fn files(&self, person: i64) -> Vec<Vec<u8>>;
        fn calls(&self) -> Vec<String>;
        fn listeners(&self) -> usize;
        fn is_stored(&self, raw: &str);
        fn unacked(&self) -> usize;
        fn lost(&self) -> Vec<i64>;
        fn hang_up(&self);
    }

    async fn until(&self, condition: impl Fn(&Self) -> bool) {
        either!(self, fake => fake.until(|_| condition(self)).await);
    }
}
