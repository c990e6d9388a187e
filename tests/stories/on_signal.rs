//! What holds on every channel, told over Signal.

use crate::support::power::CrashTestOver;
use crate::support::signal::FakeSignal;
use crate::support::story::StoryOver;

type Fake = FakeSignal;
type Story = StoryOver<Fake>;
type House = CrashTestOver<Fake>;
/// How many stories with power cuts are told unless somebody asks for more.
const POWER_CUTS: u64 = 80;

#[path = "everywhere.rs"]
mod everywhere;
