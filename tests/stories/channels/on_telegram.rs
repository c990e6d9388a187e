//! Common stories, over Telegram.

use crate::support::power::CrashTestOver;
use crate::support::story::StoryOver;
use crate::support::telegram::FakeTelegram;

type Fake = FakeTelegram;
type Story = StoryOver<Fake>;
type CrashTest = CrashTestOver<Fake>;
/// Default number of power-cut stories: each kind of commit twice in each order.
const POWER_CUTS: u64 = 208;

#[path = "on_every_channel.rs"]
mod on_every_channel;
