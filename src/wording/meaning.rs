//! Text about semantic search.

/// State without an embedding model.
pub const BY_WORDS: &str = "searches go by words alone; `[embedding]` in the configuration names a model for more";
/// Fix for an unreachable embedding server.
pub const FIX_AWAY: &str =
    "look at the network and embedding.base_url; searches go by words meanwhile, and it is asked again by itself";
/// Fix for a refused key.
pub const FIX_KEY: &str = "put a working key in place of embedding.api_key (or what it names)";
/// Fix for a refused request.
pub const FIX_REQUEST: &str = "look at embedding.provider, embedding.name and embedding.dimensions";
/// Text of the connection test.
pub const PROBE: &str = "Good morning";

/// Embedding model and its progress. Counting stops at `most`.
pub fn model(source: &str, name: &str, dimensions: Option<usize>, kept: u64, lacking: u64, most: u64) -> String {
    let length = dimensions.map_or_else(|| "not asked yet".to_owned(), |length| format!("{length} numbers a vector"));
    let lacking = match lacking {
        0 => "none is missing".to_owned(),
        some if some >= most => format!("more than {most} are missing"),
        some => format!("{some} are missing"),
    };
    format!("{source}/{name}, {length}; {kept} texts have one, {lacking}")
}

/// The same while the server is unreachable.
pub fn away(model: &str, why: &str, since: &str, next: &str) -> String {
    format!("{model}. Searches go by words alone since {since}: {why}. It is asked again at {next}")
}

/// Semantic search, in the status.
pub fn status(what: &str) -> String {
    format!("- search by meaning: {what}")
}

/// Result of a successful connection test.
pub fn answers(model: &str, dimensions: usize) -> String {
    format!("{model}; the server answers with {dimensions} numbers")
}
