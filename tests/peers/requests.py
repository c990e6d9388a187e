"""Checks request bodies against the types of the providers' official clients, and against rules that those types lack.

    requests.py < LINES      one {"wire": WIRE, "body": {…}} a line
    requests.py --selftest

Wires: "openai" (chat completions), "responses" (OpenAI's Responses API), "ollama" (Ollama's /api/chat), "anthropic" and
"gemini". Prints one line for each body: "ok", or "wrong: REASON". A body on the OpenAI wire goes to many servers, so it is
checked for Mistral's too, unless it holds `max_completion_tokens`, which only OpenAI's own servers take.
"""

import base64
import copy
import json
import os
import re
import sys
from collections import Counter, namedtuple

# The clients import the library `requests`, which this file is not.
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != os.path.dirname(os.path.abspath(__file__))]

from anthropic.types import message_create_params as anthropic
from google.genai import types as google
from mistralai.client import models as mistral
from ollama import _types as ollama
from openai.types.chat import completion_create_params as openai
from openai.types.responses import response_create_params as responses
from pydantic import TypeAdapter
from pydantic_core import SchemaValidator, ValidationError
from typing_extensions import Literal, Required, TypedDict

# --- Types ------------------------------------------------------------------------------------------------------------

# Google's client has no type for the whole body: its parts, as https://ai.google.dev/api/generate-content has them.
GeminiRequest = TypedDict("GeminiRequest", {
    "contents": Required[list[google.Content]], "systemInstruction": google.Content, "tools": list[google.Tool],
    "toolConfig": google.ToolConfig, "generationConfig": google.GenerationConfig,
    "safetySettings": list[google.SafetySetting], "cachedContent": str,
}, total=False)


# Ollama's client takes files for pictures and any mapping for a message, and leaves out of schemas what it does not know.
# The server takes these (https://github.com/ollama/ollama/blob/main/docs/openapi.yaml, read on 2026-11-29), and like the
# client no schema but an object (https://github.com/can1357/oh-my-pi/issues/4488).
class OllamaMessage(ollama.Message):
    role: Literal["system", "user", "assistant", "tool"]
    images: list[str] = []


class OllamaProperty(ollama.Tool.Function.Parameters.Property, extra="allow"):
    pass


class OllamaParameters(ollama.Tool.Function.Parameters, extra="allow"):
    properties: dict[str, OllamaProperty] = {}


class OllamaFunction(ollama.Tool.Function):
    name: str
    parameters: OllamaParameters


class OllamaTool(ollama.Tool):
    type: Literal["function"]
    function: OllamaFunction


class OllamaRequest(ollama.ChatRequest):
    messages: list[OllamaMessage]
    tools: list[OllamaTool] = []
    options: ollama.Options = ollama.Options()


# Types of each client: for a streamed answer, and for a whole one.
TYPES = {
    "openai": (openai.CompletionCreateParamsStreaming, openai.CompletionCreateParamsNonStreaming),
    "mistral": (mistral.ChatCompletionStreamRequest, mistral.ChatCompletionRequest),
    "anthropic": (anthropic.MessageCreateParamsStreaming, anthropic.MessageCreateParamsNonStreaming),
    "gemini": (GeminiRequest, GeminiRequest),
    "responses": (responses.ResponseCreateParamsStreaming, responses.ResponseCreateParamsNonStreaming),
    "ollama": (OllamaRequest, OllamaRequest),
}
# Functions that the clients call before a type is checked; they would hide errors, or only warn.
LENIENT = ("parse_open_union", "_check_field_type_mismatches")
# Keys of pydantic's schemas that hold further schemas.
INNER = {"schema", "items_schema", "keys_schema", "values_schema", "fields", "choices", "steps", "definitions"}


def strict(node, definitions, with_models):
    """Returns a pydantic schema that validates a whole value at once, refuses unknown keys and converts nothing. Returns
    None for models of answers, which some clients take for parameters, unless `with_models`."""
    def inner(node):
        return strict(node, definitions, with_models)

    def is_closed(node):
        return node["type"] == "model" and not with_models

    kind = node["type"]
    function = node["function"]["function"] if kind == "function-before" else None
    if is_closed(node):
        return None
    if kind == "definition-ref":
        return None if is_closed(definitions[node["schema_ref"]]) else node
    if kind == "json-or-python":
        return inner(node["json_schema"])
    if kind == "model":
        # Without its class, whose own validator pydantic would use.
        is_open = node.get("config", {}).get("extra_fields_behavior") == "allow"
        kept = {"ref": node["ref"]} if "ref" in node else {}
        return {**inner(node["schema"]), **kept, **({"extra_behavior": "allow"} if is_open else {})}
    if function and getattr(function, "func", function).__name__ in LENIENT:
        return inner(node["schema"])
    if kind == "enum":
        # Its class takes any value. Google's servers take lower case, too.
        values = [member.value for member in node["members"]]
        return {"type": "literal", "expected": values + [value.lower() for value in values], "ref": node.get("ref")}
    made = {key: value for key, value in node.items() if key not in ("serialization", "metadata")}
    for key in INNER & made.keys():
        value = made[key]
        if isinstance(value, list):
            items = [inner(item[0] if isinstance(item, tuple) else item) for item in value]
            made[key] = [item for item in items if item]
        else:
            named = key in ("fields", "choices")
            made[key] = {name: inner(item) for name, item in value.items()} if named else inner(value)
        if value and not made[key]:
            return None
    if kind == "generator":
        made["type"] = "list"
    elif kind in ("typed-dict", "model-fields") and node.get("config", {}).get("extra_fields_behavior") != "allow":
        made["extra_behavior"] = "forbid"
    elif kind in ("str", "int", "float", "bool"):
        made["strict"] = True
    return made


def validator(client, kind):
    schema = TypeAdapter(kind).core_schema
    definitions = {definition["ref"]: definition for definition in schema.get("definitions", [])}
    config = {"val_json_bytes": "base64", "validate_by_name": True, "validate_by_alias": True}
    return SchemaValidator(strict(schema, definitions, client in ("mistral", "gemini", "ollama")), config)


VALIDATORS = {client: [validator(client, kind) for kind in kinds] for client, kinds in TYPES.items()}


def type_error(client, body):
    try:
        VALIDATORS[client][body.get("stream") is not True].validate_json(json.dumps(body))
    except ValidationError as error:
        return f"type of {client}: {likely(error.errors(include_url=False), body)}"


def likely(errors, body):
    """Describes the deepest error, in the form of a message or part whose role or type is right."""
    def is_in(error, form):
        return error["loc"][:len(form)] == form

    wrong = {error["loc"][:-1] for error in errors if error["loc"][-1:] in (("role",), ("type",))}
    right = [error for error in errors if not any(is_in(error, form) for form in wrong)]
    wrong = {form for form in wrong if any(is_in(error, form[:-1]) and len(error["loc"]) >= len(form) for error in right)}
    meant = [error for error in errors if not any(is_in(error, form) for form in wrong)]
    error = max(meant, key=lambda error: len(error["loc"]))
    place, value = [], body
    for step in error["loc"]:
        # All other steps are names of types.
        if isinstance(value, dict) and step in value or isinstance(value, list) and step in range(len(value)):
            value = value[step]
            place.append(str(step))
    missing = f" `{error['loc'][-1]}`" if error["type"] == "missing" else ""
    return f"{'.'.join(place) or 'body'}: {error['msg']}{missing}"


REPORT = "public-reports.md, "
# Keys that only some servers or models take: type, clients without it, source (read on 2026-11-28).
EXTENSIONS = {
    "messages.*.content.*.cache_control": (dict, "openai mistral", "OpenRouter, by src/model/protocol/chat_completions.rs; not confirmed"),
    "messages.*.tool_calls.*.extra_content": (dict, "openai mistral", "https://github.com/continuedev/continue/pull/8865"),
    "messages.*.reasoning_content": (str, "openai mistral", "https://api-docs.deepseek.com/guides/thinking_mode"),
    "messages.*.reasoning": (str, "openai mistral", REPORT + "K2"),
    "messages.*.reasoning_details": (list, "openai mistral", REPORT + "K2"),
    # Mistral refused it in 2024 and 2025 (https://github.com/dnakov/anon-kode/issues/53): learned from a refusal.
    "stream_options": (dict, "mistral", REPORT + "K2"),
    # Older models take it; Claude 4.7 and later refuse it, and the client has lost it.
    "temperature": (float, "anthropic", "https://github.com/yologdev/yoagent/releases/tag/v0.27.3"),
}


def without_extensions(client, value, place=""):
    if isinstance(value, list):
        return [without_extensions(client, item, place + "*.") for item in value]
    if not isinstance(value, dict) or not any(path.startswith(place) for path in EXTENSIONS):
        return value
    known = {key: EXTENSIONS.get(place + key, (None, "")) for key in value}
    kept = {key: item for key, item in value.items() if type(item) is not known[key][0] or client not in known[key][1]}
    return {key: without_extensions(client, item, f"{place}{key}.") for key, item in kept.items()}


# --- Conversations: one form for all wires ----------------------------------------------------------------------------

# Kinds: text, picture, call, result, other, "not one". Values: the text, the picture's MIME type and base64, the
# arguments of a call, the parts of a result.
Part = namedtuple("Part", "kind value id name", defaults=("", None, None))
Turn = namedtuple("Turn", "role parts")
Tool = namedtuple("Tool", "name schema")
Body = namedtuple("Body", "json turns tools parts calls results")


def body_of(body, turns, tools, joined_roles=()):
    """Joins neighbours of one of these roles."""
    tools = [tool if isinstance(tool.schema, dict) else Tool(tool.name, {}) for tool in tools]
    joined = []
    for turn in turns:
        if joined and joined[-1].role == turn.role and turn.role in joined_roles:
            joined[-1].parts.extend(turn.parts)
        else:
            joined.append(turn)
    parts = [part for turn in joined for part in turn.parts]
    calls, results = ([part for part in parts if part.kind == kind] for kind in ("call", "result"))
    return Body(body, joined, tools, parts, calls, results)


def picture(url):
    return Part("picture", re.fullmatch("(?:data:(.*?);base64,)?(.*)", url or "", re.S).groups())


def read_openai(body):
    def part(value):
        if value["type"] == "image_url":
            return picture(value["image_url"]["url"])
        return Part("text", value["text"]) if value["type"] == "text" else Part("other")

    def turn(message):
        if message["role"] == "tool":
            return Turn("tool", [Part("result", [], message["tool_call_id"])])
        content = message.get("content") or []
        parts = [Part("text", content)] if isinstance(content, str) else [part(value) for value in content]
        for call in message.get("tool_calls", []):
            parts.append(Part("call", call["function"]["arguments"], call["id"], call["function"]["name"]))
        return Turn(message["role"], parts)

    functions = [tool["function"] for tool in body.get("tools", [])]
    tools = [Tool(function["name"], function.get("parameters")) for function in functions]
    return body_of(body, [turn(message) for message in body["messages"]], tools, ["tool"])


def read_anthropic(body):
    def parts(content):
        return [Part("text", content)] if isinstance(content, str) else [part(block) for block in content]

    def part(block):
        match block["type"]:
            case "text":
                return Part("text", block["text"])
            case "image":
                return Part("picture", (block["source"].get("media_type"), block["source"].get("data", "")))
            case "tool_use":
                return Part("call", block["input"], block["id"], block["name"])
            case "tool_result":
                content = block.get("content", [])
                return Part("result", [] if isinstance(content, str) else parts(content), block["tool_use_id"])
        return Part("other")

    turns = [Turn("system", parts(body["system"]))] if "system" in body else []
    turns += [Turn(message["role"], parts(message["content"] or "")) for message in body["messages"]]
    tools = [Tool(tool["name"], tool.get("input_schema")) for tool in body.get("tools", [])]
    return body_of(body, turns, tools, ["user", "assistant"])


def read_gemini(body):
    def camel(value):
        return {re.sub("_(.)", lambda found: found[1].upper(), key): item for key, item in value.items() if item is not None}

    def part(value):
        value = camel(value)
        data = value.keys() - {"thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"}
        match [(key, value[key]) for key in data]:
            case [("text", text)]:
                return Part("text", text)
            case [("inlineData", blob)]:
                return Part("picture", (camel(blob).get("mimeType"), blob.get("data", "")))
            case [("functionCall", call)]:
                return Part("call", call.get("args"), call.get("id"), call.get("name"))
            case [("functionResponse", {"response": dict(), **result})]:
                return Part("result", [], result.get("id"), result.get("name"))
        return Part("other" if len(data) == 1 and "functionResponse" not in data else "not one")

    def turn(content, role):
        role = {"user": "user", "model": "assistant", "system": "system"}.get(role, f"unknown {role}")
        return Turn(role, [part(value) for value in content.get("parts") or []])

    turns = [turn(body["systemInstruction"], "system")] if "systemInstruction" in body else []
    turns += [turn(content, content.get("role") or "user") for content in body["contents"]]
    declared = [camel(item) for tool in body.get("tools", []) for item in camel(tool).get("functionDeclarations") or []]
    tools = [Tool(item.get("name"), item.get("parametersJsonSchema", item.get("parameters"))) for item in declared]
    return body_of(body, turns, tools)


def read_responses(body):
    def parts(content):
        return [Part("text", content)] if isinstance(content, str) else [part(value) for value in content]

    def part(value):
        match value["type"]:
            case "input_text" | "output_text":
                return Part("text", value["text"])
            case "input_image":
                return picture(value["image_url"])
        return Part("other")

    def turn(item):
        match item.get("type", "message"):
            case "message":
                return Turn(item["role"].replace("developer", "system"), parts(item["content"]))
            case "function_call":
                return Turn("assistant", [Part("call", item["arguments"], item["call_id"], item["name"])])
            case "function_call_output":
                output = item["output"]
                return Turn("tool", [Part("result", [] if isinstance(output, str) else parts(output), item["call_id"])])
        return Turn("assistant", [Part("other")])

    if isinstance(body["input"], str):
        raise KeyError("a list of items")
    turns = [Turn("system", parts(body["instructions"] or ""))] if "instructions" in body else []
    tools = [Tool(tool["name"], tool.get("parameters")) for tool in body.get("tools", [])]
    return body_of(body, turns + [turn(item) for item in body["input"]], tools, ["assistant", "tool"])


def read_ollama(body):
    def turn(message):
        if message["role"] == "tool":
            return Turn("tool", [Part("result", [], None, message["tool_name"])])
        parts = [Part("text", message["content"])] if message.get("content") else []
        # A picture's type is read from its data.
        parts += [Part("picture", ("image/png", data)) for data in message.get("images", [])]
        calls = [call["function"] for call in message.get("tool_calls") or []]
        return Turn(message["role"], parts + [Part("call", call["arguments"], None, call["name"]) for call in calls])

    functions = [tool["function"] for tool in body.get("tools", [])]
    tools = [Tool(function["name"], function["parameters"]) for function in functions]
    return body_of(body, [turn(message) for message in body["messages"]], tools, ["tool"])


READERS = {"openai": read_openai, "responses": read_responses, "ollama": read_ollama, "anthropic": read_anthropic,
           "gemini": read_gemini}

# --- Rules that the types do not hold: each check returns what is wrong, or something empty ---------------------------


def names(pattern):
    def check(body):
        results = [part for part in body.results if part.name]
        return [item.name for item in [*body.tools, *body.calls, *results] if not re.fullmatch(pattern, item.name or "")]
    return check


def ids(pattern):
    return lambda body: [call.id for call in body.calls if call.id is not None and not re.fullmatch(pattern, call.id)]


def twice(values):
    return [value for value, count in Counter(values).items() if value is not None and count > 1]


def unanswered(body):
    calls = []
    for number, turn in enumerate([*body.turns, Turn("end", [])]):
        results = [part for part in turn.parts if part.kind == "result"]
        # Only the results of Gemini and Ollama bear names.
        called = Counter((call.id, call.name if any(part.name for part in results) else None) for call in calls)
        answered = Counter((part.id, part.name) for part in results)
        if answered != called:
            return f"turn {number} should answer {list(called)} and answers {list(answered)}"
        calls = [part for part in turn.parts if part.kind == "call"]
        if calls and turn.role != "assistant":
            return f"turn {number} calls as {turn.role}"


FOLLOWERS = {"begin": ["system", "user"], "system": ["user"], "user": ["assistant"], "assistant": ["user"],
             "calls": ["tool"], "tool": ["assistant"]}


def order(body):
    before = "begin"
    for number, turn in enumerate(body.turns):
        if turn.role not in FOLLOWERS[before]:
            return f"turn {number} is {turn.role} after {before}"
        before = "calls" if any(part.kind == "call" for part in turn.parts) else turn.role


def alternation(body):
    roles = [turn.role for turn in body.turns if turn.role != "system"]
    return [f"{number}: {role}" for number, role in enumerate(roles) if role != ("user", "assistant")[number % 2]]


def empty(body):
    inner = [part for result in body.results for part in result.value]
    if any(part.kind == "text" and not part.value.strip() for part in [*body.parts, *inner]):
        return "a text"
    return any(not turn.parts for turn in body.turns) and "a message"


def parsed(parse, text, **options):
    try:
        return parse(text, **options)
    except ValueError:
        return None


def bad_arguments(body):
    return [call.value for call in body.calls if not isinstance(parsed(json.loads, call.value), dict)]


def bad_schema(body):
    def is_good(schema):
        return str(schema.get("type")).lower() == "object" and isinstance(schema.get("properties"), dict)
    return [tool.name for tool in body.tools if not is_good(tool.schema)]


def bad_keys(body):
    owners = [tool.schema["properties"] for tool in body.tools if isinstance(tool.schema.get("properties"), dict)]
    return [key for owner in owners for key in owner if not re.fullmatch("[a-zA-Z0-9_.-]{1,64}", key)]


def alternatives(body):
    return [tool.name for tool in body.tools if {"oneOf", "anyOf", "allOf"} & tool.schema.keys()]


def array_without_items(body):
    def lacks(schema):
        if isinstance(schema, list):
            return any(map(lacks, schema))
        if not isinstance(schema, dict):
            return False
        is_array = "array" in schema["type"] if isinstance(schema.get("type"), list) else schema.get("type") == "array"
        return is_array and "items" not in schema or any(map(lacks, schema.values()))
    return [tool.name for tool in body.tools if lacks(tool.schema)]


def bad_picture(body):
    def is_picture(kind, data):
        return re.fullmatch("image/(png|jpeg|webp|gif)", kind or "") and parsed(base64.b64decode, data or "", validate=True)
    return [str(part.value)[:60] for part in body.parts if part.kind == "picture" and not is_picture(*part.value)]


def late_results(body):
    kinds = [[part.kind == "result" for part in turn.parts] for turn in body.turns]
    return [number for number, results in enumerate(kinds) if sorted(results, reverse=True) != results]


def surplus_marks(body):
    lists = [body.json.get("tools"), body.json.get("system"), *(message["content"] for message in body.json["messages"])]
    marks = sum("cache_control" in block for blocks in lists if isinstance(blocks, list) for block in blocks)
    return marks if marks > 4 else 0


def unsaid_json(body):
    text = " ".join(part.value for part in body.parts if part.kind == "text")
    forms = body.json.get("response_format"), body.json.get("text", {}).get("format")
    return {"type": "json_object"} in forms and "json" not in text.lower()


def lone_thinking(body):
    """Words may stand between the thinking and the call."""
    items = body.json["input"]
    kinds = [item["role"] if item.get("type", "message") == "message" else item["type"] for item in items] + ["end"]
    then = [next(kind for kind in kinds[n:] if kind not in ("reasoning", "assistant")) for n in range(len(kinds))]
    return [n for n, kind in enumerate(kinds) if kind == "reasoning" and then[n] != "function_call"]


def small_window(body):
    options = body.json.get("options", {})
    return [key for key in ("num_ctx", "num_predict") if (options.get(key) or 0) <= 0]


def empty_list(body):
    keys = ("tools", "tool_calls", "content", "images", "include")
    owners = [body.json, *body.json.get("messages", body.json.get("input", []))]
    return [key for owner in owners for key in keys if owner.get(key) == []]


GITHUB, CLAUDE = "https://github.com/", "https://platform.claude.com/docs/en/agents-and-tools/tool-use/"
OPENAI = GITHUB + "openai/openai-python/blob/main/src/openai/types/"
MESSAGES = GITHUB + "anthropics/anthropic-sdk-python/blob/main/src/anthropic/types/message_create_params.py"
MISTRAL = GITHUB + "mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py"
OLLAMA = GITHUB + "ollama/ollama/blob/main/docs/"
# Chat template of Mistral 7B; those of Gemma and Llama are similar.
TEMPLATE = GITHUB + "nomic-ai/gpt4all/issues/3273"
KEYS, DATA = GITHUB + "anthropics/claude-code/issues/79418", GITHUB + "openai/openai-dotnet/issues/708"
ITEMS = GITHUB + "sigoden/aichat/pull/1049"
AS_OTHERS = "not confirmed: a rule of other servers"
# Rule, check, source for each server. Read on 2026-11-28, those of "responses" and "ollama" on 2026-11-29.
RULES = [
    ("names of tools fit the pattern", names("[a-zA-Z0-9_-]{1,64}"), {
        "openai": OPENAI + "shared_params/function_definition.py", "mistral": MISTRAL,
        "responses": OPENAI + "shared_params/function_definition.py", "ollama": AS_OTHERS,
        "anthropic": CLAUDE + "define-tools"}),
    # The client's text allows colons and 128 characters; servers refused both in 2025.
    ("names of tools fit the pattern", names("[a-zA-Z_][a-zA-Z0-9_.-]{0,63}"), {
        "gemini": GITHUB + "router-for-me/CLIProxyAPI/issues/218"}),
    ("names of tools are unique", lambda body: twice(tool.name for tool in body.tools), {
        "openai": REPORT + "K1", "responses": AS_OTHERS, "ollama": AS_OTHERS,
        "anthropic": GITHUB + "anthropics/claude-code/issues/10687",
        "gemini": GITHUB + "owndev/Open-WebUI-Functions/issues/135"}),
    ("ids have 40 characters at most", ids(".{1,40}"), {"openai": GITHUB + "vercel/ai/issues/5171"}),
    ("ids have 64 characters at most", ids(".{1,64}"), {"responses": GITHUB + "RooCodeInc/Roo-Code/pull/10763"}),
    ("ids are nine letters and digits", ids("[a-zA-Z0-9]{9}"), {"mistral": MISTRAL}),
    ("ids fit the pattern", ids("[a-zA-Z0-9_-]+"), {"anthropic": GITHUB + "maximhq/bifrost/issues/5097"}),
    ("ids are unique", lambda body: twice(call.id for call in body.calls), {
        "openai": REPORT + "K1", "responses": AS_OTHERS, "gemini": REPORT + "K1",
        "anthropic": GITHUB + "anthropics/claude-code/issues/20700"}),
    ("each call has one result, directly after it", unanswered, {
        "openai": "https://docs.langchain.com/oss/javascript/langchain/errors/INVALID_TOOL_RESULTS",
        "responses": GITHUB + "agentjido/req_llm/pull/426", "ollama": OLLAMA + "capabilities/tool-calling.mdx",
        "anthropic": CLAUDE + "handle-tool-calls", "gemini": GITHUB + "google-gemini/gemini-cli/issues/16543"}),
    ("results come first", late_results, {"anthropic": CLAUDE + "handle-tool-calls"}),
    # OpenAI takes words before a call, too; this program keeps thinking only with calls.
    ("thinking stands before a call", lone_thinking, {"responses": GITHUB + "openai/openai-node/issues/1567"}),
    ("the system speaks once, and first", lambda body: "system" in [turn.role for turn in body.turns[1:]], {
        "openai": TEMPLATE, "responses": TEMPLATE, "ollama": TEMPLATE, "anthropic": REPORT + "K1"}),
    ("roles are in order", order, {"mistral": f"{TEMPLATE}; {MISTRAL}", "ollama": TEMPLATE}),
    # Anthropic joins neighbours of one role, as `read_anthropic` does.
    ("user and assistant alternate", alternation, {
        "anthropic": MESSAGES, "gemini": GITHUB + "NousResearch/hermes-agent/issues/55125"}),
    ("the user or a tool speaks last", lambda body: [turn.role for turn in body.turns][-1:] not in (["user"], ["tool"]), {
        "openai": REPORT + "K1", "mistral": MISTRAL, "responses": AS_OTHERS, "ollama": AS_OTHERS,
        "anthropic": MESSAGES, "gemini": REPORT + "K1"}),
    ("no text or message is empty", empty, {
        "responses": AS_OTHERS, "ollama": AS_OTHERS, "anthropic": GITHUB + "anthropics/claude-code/issues/59812",
        "gemini": GITHUB + "router-for-me/CLIProxyAPI/issues/1293"}),
    ("an assistant's message has content or calls", lambda body: ("assistant", []) in body.turns, {
        "openai": OPENAI + "chat/chat_completion_assistant_message_param.py"}),
    ("no list is empty", empty_list, {
        "openai": GITHUB + "openai/openai-node/pull/1341", "responses": GITHUB + "vllm-project/vllm/pull/39780",
        "ollama": AS_OTHERS}),
    ("each part holds one thing", lambda body: "not one" in [part.kind for part in body.parts], {
        "gemini": GITHUB + "genkit-ai/genkit/issues/3816"}),
    ("arguments are an object", bad_arguments, {
        "openai": REPORT + "K1", "responses": OPENAI + "responses/response_function_tool_call_param.py"}),
    ("a schema is that of an object with properties", bad_schema, {
        "openai": REPORT + "K2", "responses": GITHUB + "spring-projects/spring-ai/issues/4776",
        "ollama": GITHUB + "ollama/ollama/issues/10328", "anthropic": REPORT + "K2", "gemini": REPORT + "K2"}),
    ("keys of properties fit the pattern", bad_keys, {
        "openai": KEYS, "responses": KEYS, "anthropic": KEYS, "gemini": KEYS}),
    ("a schema has no alternatives at its top", alternatives, {
        "anthropic": GITHUB + "Kilo-Org/kilocode/issues/12246"}),
    ("arrays have items", array_without_items, {"openai": ITEMS, "responses": ITEMS}),
    ("pictures are data", bad_picture, {
        "openai": DATA, "responses": OPENAI + "responses/response_input_image_param.py",
        "ollama": GITHUB + "ollama/ollama-js/issues/68", "anthropic": DATA, "gemini": DATA}),
    ("there are four cache marks at most", surplus_marks, {"anthropic": GITHUB + "tghamm/Anthropic.SDK/issues/50"}),
    ("JSON mode is spoken of", unsaid_json, {
        "openai": "not confirmed: the refusal as public programs quote it",
        "responses": GITHUB + "miracodeai/mira/pull/267; not confirmed: that the instructions count"}),
    ("nothing is stored", lambda body: body.json.get("store") is not False, {
        "responses": OPENAI + "responses/response_create_params.py"}),
    ("the window and the answer have a size", small_window, {"ollama": OLLAMA + "openapi.yaml"}),
]

# --- Verdicts ---------------------------------------------------------------------------------------------------------


def faults(wire, body):
    """Returns pairs of a broken rule, or the word "type", and a reason."""
    servers = {wire} if wire != "openai" or "max_completion_tokens" in body else {"openai", "mistral"}
    plain = body if servers == {"openai"} else without_extensions(wire, body)
    wrong = type_error(wire, plain) or "mistral" in servers and type_error("mistral", without_extensions("mistral", body))
    if wrong:
        return [("type", wrong)]
    try:
        read = READERS[wire](body)
    except KeyError as error:
        return [("type", f"a form without {error}, which the rules do not know")]
    found = [(rule, check(read)) for rule, check, sources in RULES if servers & sources.keys()]
    return [(rule, f"{rule}: {what}") for rule, what in found if what]


# --- Self-test: good bodies, and changes that a type or a rule must find ----------------------------------------------

DOT = base64.b64encode(b"\x89PNG").decode()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {}}}}
SAY, SAYS = {"role": "user", "content": "x"}, {"role": "user", "parts": [{"text": "x"}]}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
CALLS = [{"id": f"call0000{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in "12"]
USES = [{"type": "tool_use", "id": f"call0000{n}", "name": "f", "input": {}} for n in "12"]
MARK = {"type": "ephemeral"}
FUNCTION = {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": False}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}
BASES = {
    "responses": {"model": "m", "stream": True, "store": False, "max_output_tokens": 500, "instructions": "Be brief.",
        "include": ["reasoning.encrypted_content"], "tools": [FUNCTION], "input": [
        {"role": "user", "content": [
            {"type": "input_text", "text": "Look"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{DOT}", "detail": "auto"}]},
        THOUGHT, {"role": "assistant", "content": "I look."},
        *({"type": "function_call", "call_id": f"call0000{n}", "name": "f", "arguments": "{}"} for n in "12"),
        *({"type": "function_call_output", "call_id": f"call0000{n}", "output": n} for n in "12"),
        {"role": "assistant", "content": "Done."}, SAY]},
    "ollama": {"model": "m", "stream": True, "options": {"num_ctx": 8192, "num_predict": 500}, "tools": [TOOL],
        "messages": [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Look", "images": [DOT]},
        {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [
            {"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g", "arguments": {"city": "Oslo"}}}]},
        *({"role": "tool", "tool_name": n, "content": "1"} for n in "fg"),
        {"role": "assistant", "content": "Done."}, SAY]},
    "openai": {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 500, "tools": [TOOL],
        "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}}]},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        *({"role": "tool", "tool_call_id": f"call0000{n}", "content": n} for n in "12"),
        {"role": "assistant", "content": "Done."}, SAY]},
    "anthropic": {"model": "m", "stream": True, "max_tokens": 500, "temperature": 0.5,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
        "tools": [{"name": "f", "description": "d", "input_schema": {**SCHEMA, "additionalProperties": False}}],
        "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT}}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "I look."}, *USES]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call00001", "content": "1"},
            {"type": "tool_result", "tool_use_id": "call00002", "content": [{"type": "text", "text": "2"}]}]},
        SAY, {"role": "assistant", "content": "Done."}, SAY]},
    "gemini": {"generationConfig": {"maxOutputTokens": 500, "temperature": 0.5},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": n, "description": "d", "parametersJsonSchema": SCHEMA} for n in "fg"]}],
        "contents": [
        {"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": DOT}}]},
        {"role": "model", "parts": [
            {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "g", "args": {"city": "Oslo"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": n, "response": {"output": "1"}}} for n in "fg"]},
        {"role": "model", "parts": [{"text": "Done."}]}, SAYS]},
}
CALL, USE, DECLARED = "messages.2.tool_calls.0", "messages.1.content.2", "tools.0.functionDeclarations.0"
PROPERTIES = "tools.0.function.parameters.properties"
URLS = ("https://a.example/b.png", "data:image/png;base64,", "data:image/bmp;base64,eA==")
# A change is a list of paths and values, of which DROP removes; a last step "+" appends.
DROP = object()
GOOD = {
    "responses": [
        [], ["stream", False], ["tools", DROP], ["instructions", DROP], ["include", DROP], ["temperature", 0.5],
        ["input.1", DROP], ["input.2", DROP], ["input.2", THOUGHT], ["input.0.content", "Look"],
        ["input.0.type", "message"], ["input.8", DROP, "input.7", DROP],
        ["input.5.output", [{"type": "input_text", "text": "1"}]],
        ["text", {"format": {"type": "json_object"}}, "instructions", "JSON"],
        ["text", {"format": {"type": "json_object"}}, "input.8.content", "As json"]],
    "ollama": [
        [], ["stream", DROP], ["tools", DROP], ["messages.0", DROP], ["format", SCHEMA], ["format", "json"],
        ["options.temperature", 0.5], ["messages.2.thinking", DROP], ["messages.2.content", "I look."], ["think", True],
        ["messages.1.content", ""], ["messages.6", DROP, "messages.5", DROP],
        [f"{PROPERTIES}.city", {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "City"}]],
    "openai": [
        [], ["stream", False], ["tools", DROP], ["messages.0", DROP], ["messages.2.content", "I look."],
        ["temperature", 1], ["messages.2.reasoning_content", "Hm."], ["messages.2.reasoning_details", [{}]],
        ["messages.1.content.0.cache_control", MARK], [f"{CALL}.extra_content", {}],
        ["max_tokens", DROP, "stream_options", DROP, "max_completion_tokens", 5],
        ["response_format", {"type": "json_object"}, "messages.0.content", "JSON"]],
    "anthropic": [
        [], ["stream", DROP], ["system", "Be brief."], ["messages.2.content.0.is_error", True],
        ["messages.2.content.0.content", ""], ["thinking", {"type": "disabled"}],
        ["messages.1.content.0", {"type": "redacted_thinking", "data": "eA=="}],
        ["output_config", {"format": {"type": "json_schema", "schema": SCHEMA}}]],
    "gemini": [
        [], ["systemInstruction", DROP], ["contents.1.parts.0.thoughtSignature", "skip_thought_signature_validator"],
        ["toolConfig", {"functionCallingConfig": {"mode": "AUTO"}}],
        ["generationConfig.responseMimeType", "application/json", "generationConfig.responseJsonSchema", SCHEMA],
        ["contents.0.parts.1", {"inline_data": {"mime_type": "image/png", "data": DOT}}],
        ["contents.2.parts.0.functionResponse.response", {"content": "1"}],
        ["contents.1.parts.0.functionCall.id", "a", "contents.2.parts.0.functionResponse.id", "a"]],
}
WRONG_TYPES = {
    "responses": [
        ["foo", 1], ["stream", "yes"], ["max_output_tokens", "5"], ["max_tokens", 5], ["input", {}], ["input.8.foo", 1],
        ["input.8.role", "robot"], ["input.0.content.0.text", 7], ["input.0.content.0.type", "text"],
        ["input.0.content.1.detail", "much"], ["input.0.content.1.image_url", {"url": "x"}], ["input.1.summary", DROP],
        ["input.1.encrypted_content", 7], ["input.3.call_id", DROP], ["input.3.arguments", {}], ["input.3.foo", 1],
        ["input.5.output", 7], ["tools.0.name", DROP], ["tools.0.strict", DROP], ["tools.0.function", {}],
        ["include", ["thoughts"]], ["text", {"format": {"type": "json"}}], ["response_format", {"type": "text"}]],
    "ollama": [
        ["model", DROP], ["model", ""], ["foo", 1], ["stream", "yes"], ["messages", {}], ["messages.6.role", "robot"],
        ["messages.1.content", 7], ["messages.1.content", [{"type": "text", "text": "x"}]], ["messages.1.images", [7]],
        ["messages.1.foo", 1], ["messages.2.thinking", ["Hm."]], ["messages.3.tool_name", 7],
        ["messages.3.tool_call_id", "a"], [f"{CALL}.function.arguments", "{}"], [f"{CALL}.function.name", DROP],
        ["options.num_ctx", "8192"], ["options.num_predict", 5.5], ["options.foo", 1], ["max_tokens", 5],
        ["tools.0.type", "tool"], ["tools.0.function.name", DROP], ["tools.0.function.parameters", DROP],
        [f"{PROPERTIES}.city", True], [f"{PROPERTIES}.city.type", 7], ["format", 7]],
    "openai": [
        ["model", DROP], ["foo", 1], ["stream", "yes"], ["max_tokens", "5"], ["max_tokens", 5.5], ["messages", {}],
        ["messages.6", "x"], ["messages.6.role", "robot"], ["messages.6.foo", 1], ["messages.6.content", 7],
        ["messages.1.content.0.text", 7], ["messages.1.content.0.type", "picture"], ["messages.1.content.0.foo", 1],
        ["messages.1.content.1.image_url", "data:"],
        ["messages.0.content", [{"type": "image_url", "image_url": {"url": "x"}}]], [f"{CALL}.id", DROP],
        [f"{CALL}.index", 0], [f"{CALL}.function.name", None], ["messages.3.tool_call_id", DROP],
        [f"{CALL}.function.arguments", {}], ["messages.3.content", None], ["tools.0.function.name", DROP],
        ["tools.0.type", "tool"], ["tools.0.function.parameters", "x"], ["response_format", {"type": "json"}],
        ["messages.2.reasoning_content", 7], ["messages.2.extra_content", {}],
        ["messages.2.reasoning_content", "", "max_completion_tokens", 5]],
    "mistral": [
        ["seed", 1], ["user", "x"], ["service_tier", "flex"], ["messages.6.name", "Ann"],
        ["messages.0.role", "developer"], ["tools.0.function.parameters", DROP]],
    "anthropic": [
        ["max_tokens", DROP], ["foo", 1], ["messages.3.role", "tool"], ["messages.3.content", None],
        ["messages.0.content.0.type", "words"], ["messages.0.content.1.source.media_type", "image/bmp"],
        ["messages.0.content.1.source.data", 7], ["messages.1.content.0.signature", DROP], [f"{USE}.foo", 1],
        [f"{USE}.input", "{}"], [f"{USE}.caller", None], ["messages.2.content.0.tool_use_id", DROP],
        ["tools.0.input_schema", DROP], ["tools.0.parameters", {}], ["system.0.cache_control.type", "for ever"],
        ["thinking", {"type": "enabled"}]],
    "gemini": [
        ["contents", DROP], ["foo", 1], ["contents.0.parts.0.txt", "x"], ["contents.0.parts.0.text", 7],
        ["generationConfig.maxTokens", 5], ["generationConfig.maxOutputTokens", "5"],
        ["contents.0.parts.1.inlineData.data", "?"], ["contents.1.parts.0.thoughtSignature", "a"],
        ["contents.1.parts.0.functionCall.args", "{}"], ["contents.2.parts.0.functionResponse.response", "1"],
        [f"{DECLARED}.schema", {}], ["toolConfig", {"functionCallingConfig": {"mode": "MAYBE"}}]],
}
# Part of a rule's name, and changes by wire.
BROKEN = {
    "names of tools fit": {
        "responses": [["input.3.name", "a b"], ["tools.0.name", ""]],
        "ollama": [[f"{CALL}.function.name", "a b"], ["tools.0.function.name", "f" * 65]],
        "openai": [[f"{CALL}.function.name", ""], ["tools.0.function.name", "f<|channel|>"],
                   ["tools.0.function.name", "f" * 65]],
        "anthropic": [[f"{USE}.name", "a b"], ["tools.0.name", ""]],
        "gemini": [[f"{DECLARED}.name", "7f"], [f"{DECLARED}.name", DROP], ["contents.1.parts.0.functionCall.name", "f:1"]]},
    "names of tools are unique": {
        "responses": [["tools.+", FUNCTION]], "ollama": [["tools.+", TOOL]], "openai": [["tools.+", TOOL]],
        "anthropic": [["tools.+", {"name": "f", "input_schema": SCHEMA}]],
        "gemini": [[f"{DECLARED}.name", "g"]]},
    "40 characters": {"openai": [[f"{CALL}.id", "a" * 41], [f"{CALL}.id", ""]]},
    "64 characters": {"responses": [["input.3.call_id", "a" * 65], ["input.3.call_id", ""]]},
    "nine letters": {"openai": [[f"{CALL}.id", "call_0001"], [f"{CALL}.id", "call000001"]]},
    "ids fit": {"anthropic": [[f"{USE}.id", "a:b"], [f"{USE}.id", ""]]},
    "ids are unique": {
        "responses": [["input.3.call_id", "call00002"]],
        "openai": [[f"{CALL}.id", "call00002"]], "anthropic": [[f"{USE}.id", "call00002"]],
        "gemini": [["contents.1.parts.0.functionCall.id", "a", "contents.1.parts.1.functionCall.id", "a"]]},
    "one result": {
        "responses": [["input.5", DROP], ["input.5.call_id", "call00009"], ["input.3", DROP], ["input.5", SAY],
                      ["input.5.call_id", None], ["input.6.call_id", "call00001"]],
        "ollama": [["messages.3", DROP], ["messages.3.tool_name", "h"], [CALL, DROP], ["messages.3", SAY],
                   ["messages.+", {"role": "tool", "tool_name": "f", "content": "1"}]],
        "openai": [["messages.3", DROP], ["messages.3.tool_call_id", "call00009"], ["messages.4.tool_call_id", "call00001"],
                   ["messages.3", SAY], ["messages.2.tool_calls.0", DROP], ["messages.+", {"role": "assistant", "tool_calls": CALLS}]],
        "anthropic": [["messages.2", SAY], ["messages.2.content.0", DROP], ["messages.1.content.2", DROP],
                      ["messages.0.content.+", USES[0]]],
        "gemini": [["contents.2.parts.0", DROP], ["contents.1.parts.1", DROP],
                   ["contents.2.parts.0.functionResponse.name", "h"]]},
    "results come first": {"anthropic": [["messages.2.content.0", {"type": "text", "text": "x"}]]},
    "thinking stands": {"responses": [["input.5", THOUGHT], ["input.+", THOUGHT], ["input.7", THOUGHT]]},
    "the system": {
        "responses": [["input.0.role", "system"], ["input.8.role", "developer"]],
        "ollama": [["messages.6.role", "system"]],
        "openai": [["messages.6.role", "system"]], "anthropic": [["messages.3.role", "system"]]},
    "in order": {
        "ollama": [["messages.5", DROP], ["messages.+", SAY], ["messages.1", DROP], ["messages.0.role", "assistant"]],
        "openai": [["messages.5", DROP], ["messages.+", SAY], ["messages.1", DROP], ["messages.0.role", "assistant"]]},
    "alternate": {
        "anthropic": [["messages.0", DROP]],
        "gemini": [["contents.0", DROP], ["contents.+", SAYS], ["contents.3", DROP], ["contents.4.role", "assistant"],
                   ["contents.4.role", "tool"]]},
    "speaks last": {
        "responses": [["input.8", DROP], ["input", []]], "ollama": [["messages.6", DROP], ["messages", []]],
        "openai": [["messages.6", DROP], ["messages", []]], "gemini": [["contents.4", DROP], ["contents", []]],
        "anthropic": [["messages.5", DROP], ["messages", []]]},
    "no text": {
        "responses": [["input.7.content", ""], ["input.0.content", []], ["instructions", " "], ["instructions", None],
                      ["input.5.output", [{"type": "input_text", "text": ""}]]],
        "ollama": [["messages.1", {"role": "user", "content": ""}], ["messages.5.content", DROP],
                   ["messages.6.content", " \n"]],
        "anthropic": [["messages.4.content", ""], ["messages.3.content", []], ["messages.1.content.1.text", " \n"],
                      ["messages.2.content.1.content.0.text", ""], ["system", ""]],
        "gemini": [["contents.4.parts.0.text", ""], ["contents.4.parts", []], ["contents.4.parts", DROP]]},
    "content or calls": {"openai": [["messages.5.content", None], ["messages.5.content", ""]]},
    "no list": {
        "responses": [["tools", []], ["include", []]], "ollama": [["tools", []], ["messages.1.images", []]],
        "openai": [["tools", []], ["messages.5.tool_calls", []], ["messages.6.content", []]]},
    "one thing": {"gemini": [
        ["contents.4.parts.+", {"thoughtSignature": "c2ln"}], ["contents.1.parts.0.text", "x"],
        ["contents.2.parts.0.functionResponse.response", DROP]]},
    "arguments": {
        "responses": [["input.3.arguments", text] for text in ("", "[1]", "{")],
        "openai": [[f"{CALL}.function.arguments", text] for text in ("", "[1]", "{")]},
    "an object with properties": {
        "responses": [["tools.0.parameters", {}], ["tools.0.parameters", None]],
        "ollama": [["tools.0.function.parameters", {}], [PROPERTIES, DROP]],
        "openai": [["tools.0.function.parameters", {}], [PROPERTIES, []]],
        "anthropic": [["tools.0.input_schema.properties", DROP], ["tools.0.input_schema", {"type": "string"}]],
        "gemini": [[f"{DECLARED}.parametersJsonSchema", True]]},
    "keys": {
        "openai": [[f"{PROPERTIES}.$top", {}]], "responses": [["tools.0.parameters.properties.$top", {}]],
        "anthropic": [["tools.0.input_schema.properties.", {}]],
        "gemini": [[f"{DECLARED}.parametersJsonSchema.properties." + "k" * 65, {}]]},
    "alternatives": {"anthropic": [["tools.0.input_schema.anyOf", [{}]]]},
    "items": {
        "responses": [["tools.0.parameters.properties.days.items", DROP]],
        "openai": [[f"{PROPERTIES}.days.items", DROP], [f"{PROPERTIES}.city.type", ["array"]]]},
    "pictures": {
        "responses": [["input.0.content.1.image_url", url] for url in URLS] + [["input.0.content.1.image_url", None]],
        "ollama": [["messages.1.images", [url]] for url in ("?", "", f"data:image/png;base64,{DOT}")],
        "openai": [["messages.1.content.1.image_url.url", url] for url in URLS],
        "anthropic": [["messages.0.content.1.source.data", "?"],
                      ["messages.0.content.1.source", {"type": "url", "url": "https://a.example/b.png"}]],
        "gemini": [["contents.0.parts.1.inlineData.mimeType", "image/bmp"],
                   ["contents.0.parts.1", {"inline_data": {"mime_type": "image/bmp", "data": DOT}}]]},
    "four": {"anthropic": [[
        step for place in ("tools.0", *(f"messages.1.content.{n}" for n in (1, 2, 3)))
        for step in (f"{place}.cache_control", MARK)]]},
    "JSON": {
        "responses": [["text", {"format": {"type": "json_object"}}]],
        "openai": [["response_format", {"type": "json_object"}]]},
    "nothing is stored": {"responses": [["store", True], ["store", None], ["store", DROP]]},
    "have a size": {"ollama": [["options.num_ctx", 0], ["options.num_predict", -1], ["options.num_ctx", DROP],
                               ["options.num_predict", DROP], ["options", DROP]]},
}


def changed(body, change):
    body = copy.deepcopy(body)
    for path, value in zip(change[::2], change[1::2]):
        owner, (*steps, last) = body, path.split(".")
        for step in steps:
            owner = owner[int(step) if isinstance(owner, list) else step]
        if last == "+":
            owner.append(value)
            continue
        last = int(last) if isinstance(owner, list) else last
        owner[last] = value
        if value is DROP:
            del owner[last]
    return body


def selftest():
    def tried(wire, change):
        return faults(wire, changed(BASES[wire], change))

    for wire, changes in GOOD.items():
        for change in changes:
            assert not tried(wire, change), (wire, change, tried(wire, change))
    for client, changes in WRONG_TYPES.items():
        for change in changes:
            (_, reason), *others = tried("openai" if client == "mistral" else client, change)
            # The error is found at the changed place, or directly above it.
            places = (change[0], change[0].rpartition(".")[0] or "body")
            assert not others and reason.startswith(tuple(f"type of {client}: {place}" for place in places)), (change, reason)
    untried = {(rule, server.replace("mistral", "openai")) for rule, _, sources in RULES for server in sources}
    for name, (wire, changes) in [(name, item) for name, by_wire in BROKEN.items() for item in by_wire.items()]:
        for change in changes:
            found = {rule for rule, _ in tried(wire, change) if name in rule}
            assert found, (name, wire, change, tried(wire, change))
            untried -= {(rule, wire) for rule in found}
    assert not untried, untried
    print("ok")


def main():
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        reasons = "; ".join(reason for _, reason in faults(asked["wire"], asked["body"]))
        verdict = f"wrong: {reasons[:400]}" if reasons else "ok"
        print(verdict.encode("ascii", "backslashreplace").decode().replace("\n", " "), flush=True)


selftest() if sys.argv[1:] == ["--selftest"] else main()
