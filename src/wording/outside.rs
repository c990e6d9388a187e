//! What is said about tools of other programs: to the model that called one, and to the owner who
//! accepts them.

/// The mark around what a tool gave.
pub const FRAME: &str = "tool_output";
/// What a tool gave.
pub const GAVE: &str = "Output of";
/// What a tool said of a call that failed.
pub const FAILED: &str = "The call failed. Said by";
/// It gave nothing.
pub const NOTHING: &str = "(nothing)";

/// It gave something of a kind that did not exist when this was written.
pub const UNKNOWN_KIND: &str = "[something of an unknown kind, which is not shown]";

/// Its program cannot be started.
pub const CANNOT_START: &str = "it cannot be started; check its command or address";
/// The connection broke.
pub const BROKEN: &str = "the connection broke or never came about, or what it sends makes no sense; see that it runs";
/// It refuses the request.
pub const OBJECTS: &str = "it refuses to say what its tools are";

/// The words of a tool. They hold no mark that could close the frame.
pub fn framed(what: &str, tool: &str, words: &str) -> String {
    format!("{what} {tool}:\n<{FRAME}>\n{words}\n</{FRAME}>")
}

/// Something that is no text.
pub fn left_out(what: &str, kind: &str, bytes: usize) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    format!("[a {what}{kind} of {bytes} bytes, which is not shown]")
}

/// Something that is somewhere else.
pub fn link(address: &str) -> String {
    format!("[a link to {address}]")
}

/// It took too long.
pub fn silent(seconds: u64) -> String {
    format!("it did not answer within {seconds} seconds")
}

/// A call took too long.
pub fn no_answer(tool: &str, seconds: u64) -> String {
    format!("{tool} did not answer within {seconds} seconds. Whether it took effect is unknown; tell the person.")
}

/// The connection broke under a call.
pub fn broke_off(tool: &str) -> String {
    format!("The connection to {tool} broke. Whether the call took effect is unknown; tell the person.")
}

/// The server is not there.
pub fn unavailable(tool: &str) -> String {
    format!("{tool} is unavailable just now. Nothing was done; go on without it.")
}

/// It is not described as it was accepted.
pub fn changed(tool: &str) -> String {
    format!(
        "{tool} has changed since the owner accepted it, and cannot be used until they accept it again. Nothing was done."
    )
}

/// No server is configured.
pub const NO_SERVERS: &str = "No server of outside tools is configured; `[[mcp]]` in the configuration adds one.";

/// A server.
pub fn server(name: &str, since: Option<&str>, trouble: Option<&str>, restarts: u32, refused: usize) -> String {
    let state = match (since, trouble) {
        (Some(since), _) => format!("connected since {since}"),
        (None, Some(trouble)) => trouble.to_owned(),
        (None, None) => "not connected".to_owned(),
    };
    let restarts = match restarts {
        0 => String::new(),
        1 => ", started again once".to_owned(),
        many => format!(", started again {many} times"),
    };
    let refused = match refused {
        0 => String::new(),
        1 => ", one of its tools cannot be used (name or size)".to_owned(),
        many => format!(", {many} of its tools cannot be used (name or size)"),
    };
    format!("- tools of {name}: {state}{restarts}{refused}")
}

/// A tool and the digest of what it says of itself.
pub fn tool(name: &str, state: &str, hash: &str) -> String {
    format!("`{name}`: {state}, {hash}")
}

/// What a tool says of itself.
pub fn described(description: &str, schema: &str) -> String {
    format!("{description}\n\narguments: {schema}")
}

/// What to type.
pub fn how_to_accept(name: &str, hash: &str) -> String {
    format!(
        "These are its server's words, and a model would read them. To accept them: `compline tools accept {name} {hash}`"
    )
}

/// It is accepted.
pub fn accepted(name: &str) -> String {
    format!("Accepted. {name} is offered from the next conversation on, until its server changes a word of it.")
}

/// There is none of that name.
pub fn no_such_tool(name: &str) -> String {
    format!("No server has a tool named {name}; `compline tools list` shows all.")
}

/// The digest is too short to name anything.
pub fn too_few_digits(least: usize) -> String {
    format!("Give at least {least} digits of the hash; `compline tools list` shows it.")
}

/// The digest is not the one that holds now.
pub fn other_digest(name: &str) -> String {
    format!(
        "That is not the hash of {name} as it is now, so nothing was accepted. Read it again with `compline tools list`."
    )
}
