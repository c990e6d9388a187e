//! What is said about things that happen by themselves.

/// Why a slot is missed.
pub fn missed(periods: u32) -> String {
    match periods {
        1 => "It was due too long ago when the gateway came back.".to_owned(),
        many => format!("{many} of them were due too long ago when the gateway came back."),
    }
}
