//! What is said about searching by meaning.

/// No model is named.
pub const BY_WORDS: &str = "searches go by words alone; `[embedding]` in the configuration names a model for more";
/// The server of vectors cannot be reached.
pub const FIX_AWAY: &str =
    "look at the network and embedding.base_url; searches go by words meanwhile, and it is asked again by itself";
/// Its key is refused.
pub const FIX_KEY: &str = "put a working key in place of embedding.api_key (or what it names)";
/// It does not understand.
pub const FIX_REQUEST: &str = "look at embedding.provider, embedding.name and embedding.dimensions";
/// What a server is tried with.
pub const PROBE: &str = "Good morning";

/// The model, and what came of it so far. `most` is where counting stops.
pub fn model(source: &str, name: &str, dimensions: Option<usize>, kept: u64, lacking: u64, most: u64) -> String {
    let length = dimensions.map_or_else(|| "not asked yet".to_owned(), |length| format!("{length} numbers a vector"));
    let lacking = match lacking {
        0 => "none is missing".to_owned(),
        some if some >= most => format!("more than {most} are missing"),
        some => format!("{some} are missing"),
    };
    format!("{source}/{name}, {length}; {kept} texts have one, {lacking}")
}

/// The same while the server is away.
pub fn away(model: &str, why: &str, since: &str, next: &str) -> String {
    format!("{model}. Searches go by words alone since {since}: {why}. It is asked again at {next}")
}

/// A line of the status.
pub fn status(what: &str) -> String {
    format!("- search by meaning: {what}")
}

/// The server was tried, and answered.
pub fn answers(model: &str, dimensions: usize) -> String {
    format!("{model}; the server answers with {dimensions} numbers")
}
