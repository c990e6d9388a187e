//! What is said about looking back and other things that happen by themselves.

/// Nothing is looked back on.
pub const OFF: &str =
    "Looking back is switched off: set enabled = true under [reflection] in the configuration and start again.";
/// How /reflect is written.
pub const HOW_REFLECT: &str = "/reflect daily, /reflect weekly or /reflect monthly; with a period such as 2026-11-20, 2026-W47 or 2026-11 behind it, \
    and with \"again\" if it was done already";
/// What /reflect does.
pub const DOES_REFLECT: &str = "look back on a day, week or month now: /reflect daily";

/// Why a slot is missed.
pub fn missed(periods: u32) -> String {
    match periods {
        1 => "It was due too long ago to be made up for.".to_owned(),
        many => format!("{many} of them were due too long ago to be made up for."),
    }
}

/// The work has begun.
pub fn begun(period: &str) -> String {
    format!("I am looking back on {period}. It takes a moment.")
}

/// The work is under way already.
pub fn on_it(period: &str) -> String {
    format!("I am looking back on {period} already.")
}

/// It is done.
pub fn done(period: &str) -> String {
    format!("I have looked back on {period}. `compline reflections list` has it.")
}

/// There was too little to look at.
pub fn quiet(period: &str) -> String {
    format!("There was too little in {period} to look back on, so no model was asked.")
}

/// It goes on without whoever waits.
pub fn takes_long(period: &str) -> String {
    format!("Looking back on {period} takes long. It goes on while the gateway runs.")
}

/// It did not work.
pub fn failed(period: &str, reason: &str) -> String {
    format!("Looking back on {period} did not work. {reason}").trim_end().to_owned()
}

/// It was done before.
pub fn done_already(job: &str, period: &str) -> String {
    format!(
        "{period} was looked back on already. To do it once more: `/reflect {job} {period} again`, or --again on the command line."
    )
}

/// The period is not over.
pub fn not_over(period: &str) -> String {
    format!("{period} is not over yet.")
}

/// Nobody was known then.
pub fn too_early(period: &str) -> String {
    format!("Nothing is known from {period}: it lies before you were first named here.")
}

/// The name of the period makes no sense.
pub fn no_period(job: &str) -> String {
    let example = match job {
        "weekly" => "2026-W47",
        "monthly" => "2026-11",
        _ => "2026-11-20",
    };
    format!("That is no name of a period for {job}. Write it as {example}.")
}

/// One slot that comes, for `status`.
pub fn slot(job: &str, period: &str, at: &str) -> String {
    format!("{job} of {period} on {at}")
}

/// The slots that come, for `status`; nothing if there are none.
pub fn slots(slots: &[String]) -> Option<String> {
    (!slots.is_empty()).then(|| format!("Next: {}.", slots.join("; ")))
}

/// No reflections yet.
pub const NO_REFLECTIONS: &str = "There are no reflections yet. The first comes when a day is over on which enough was said; `compline reflect daily` makes one now.";

/// One reflection in the list.
pub fn reflection(
    id: crate::id::ReflectionId,
    job: &str,
    period: &str,
    title: &str,
    person: &str,
    at: &str,
    sources: &str,
) -> String {
    let mark = if sources.is_empty() { String::new() } else { format!(", with a part from {sources}") };
    format!("**{id}. {title}**\n{job} of {period}, for {person}, made {at}{mark}")
}

/// There is none of that number or period.
pub fn no_such_reflection(wanted: &str) -> String {
    format!("There is no reflection {wanted}. `compline reflections list` lists them.")
}
