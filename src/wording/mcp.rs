//! Text about MCP tools: for the model that calls one, and for the owner who accepts them.

/// Tag around the output of a tool.
pub const FRAME: &str = "tool_output";
/// Heading of the output.
pub const GAVE: &str = "Output of";
/// Heading of the error message of a failed call.
pub const FAILED: &str = "The call failed. Said by";
/// Placeholder for an empty output.
pub const NOTHING: &str = "(nothing)";

/// Placeholder for content of a kind that this version does not know.
pub const UNKNOWN_KIND: &str = "[something of an unknown kind, which is not shown]";

/// Error: the server cannot be started.
pub const CANNOT_START: &str = "it cannot be started; check its command or address";
/// Error: the connection failed.
pub const BROKEN: &str = "the connection broke or never came about, or what it sends makes no sense; see that it runs";
/// Error: the server refuses to list its tools.
pub const OBJECTS: &str = "it refuses to say what its tools are";

/// Frames the output of a tool. The text contains no mark that could close the frame.
pub fn framed(what: &str, tool: &str, words: &str) -> String {
    format!("{what} {tool}:\n<{FRAME}>\n{words}\n</{FRAME}>")
}

/// Placeholder for content that is no text.
pub fn left_out(what: &str, kind: &str, bytes: usize) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    format!("[a {what}{kind} of {bytes} bytes, which is not shown]")
}

/// Placeholder for linked content.
pub fn link(address: &str) -> String {
    format!("[a link to {address}]")
}

/// Error: the server did not answer in time.
pub fn silent(seconds: u64) -> String {
    format!("it did not answer within {seconds} seconds")
}

/// Error: a call did not return in time.
pub fn no_answer(tool: &str, seconds: u64) -> String {
    format!("{tool} did not answer within {seconds} seconds. Whether it took effect is unknown; tell the person.")
}

/// Error: the connection broke during a call.
pub fn broke_off(tool: &str) -> String {
    format!("The connection to {tool} broke. Whether the call took effect is unknown; tell the person.")
}

/// Error: the server is unavailable.
pub fn unavailable(tool: &str) -> String {
    format!("{tool} is unavailable just now. Nothing was done; go on without it.")
}

/// Error: the description of the tool differs from the accepted one.
pub fn changed(tool: &str) -> String {
    format!(
        "{tool} has changed since the owner accepted it, and cannot be used until they accept it again. Nothing was done."
    )
}

/// An empty list of servers.
pub const NO_SERVERS: &str = "No server of outside tools is configured; `[[mcp]]` in the configuration adds one.";

/// State of a server.
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

/// State of a tool and the digest of its description.
pub fn tool(name: &str, state: &str, hash: &str) -> String {
    format!("`{name}`: {state}, {hash}")
}

/// Description and schema of a tool.
pub fn described(description: &str, schema: &str) -> String {
    format!("{description}\n\narguments: {schema}")
}

/// Command that accepts the tool.
pub fn how_to_accept(name: &str, hash: &str) -> String {
    format!(
        "These are its server's words, and a model would read them. To accept them: `compline tools accept {name} {hash}`"
    )
}

/// Result: the tool is accepted.
pub fn accepted(name: &str) -> String {
    format!("Accepted. {name} is offered from the next conversation on, until its server changes a word of it.")
}

/// Error: unknown tool.
pub fn no_such_tool(name: &str) -> String {
    format!("No server has a tool named {name}; `compline tools list` shows all.")
}

/// Error: the hash is too short.
pub fn too_few_digits(least: usize) -> String {
    format!("Give at least {least} digits of the hash; `compline tools list` shows it.")
}

/// Error: the hash is not the current one.
pub fn other_digest(name: &str) -> String {
    format!(
        "That is not the hash of {name} as it is now, so nothing was accepted. Read it again with `compline tools list`."
    )
}
