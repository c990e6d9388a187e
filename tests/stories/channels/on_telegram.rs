//! The common stories, over Telegram.

use crate::support::power::CrashTestOver;
use crate::support::story::StoryOver;
use crate::support::telegram::FakeTelegram;

type Fake = FakeTelegram;
type Story = StoryOver<Fake>;
type CrashTest = CrashTestOver<Fake>;
/// How many stories with power cuts are told unless somebody asks for more: each kind of commit
/// twice in each order.
const POWER_CUTS: u64 = 204;

#[path = "on_every_channel.rs"]
mod on_every_channel;
