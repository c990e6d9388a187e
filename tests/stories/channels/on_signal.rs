//! Common stories, over Signal.

use crate::support::power::CrashTestOver;
use crate::support::signal::FakeSignal;
use crate::support::story::StoryOver;

type Fake = FakeSignal;
type Story = StoryOver<Fake>;
type CrashTest = CrashTestOver<Fake>;
/// Default number of power-cut stories.
const POWER_CUTS: u64 = 80;

#[path = "on_every_channel.rs"]
mod on_every_channel;
