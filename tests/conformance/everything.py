"""The fixture tools that the official conformance suite asks for, as a front on the real wire."""

import hashlib
import hmac
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Invalid, Missing, Unready
from tokonoma.server.mcp.interface import OnDone, ToolRequest, ToolResult

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

Run = Callable[[ToolRequest], ToolResult]


def text(words: str) -> ToolResult:
    return ToolResult([{"type": "text", "text": words}])


def resource(uri: str, kind: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
MIXED = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')


def with_progress(order: ToolRequest) -> ToolResult:
    if order.progress is not None:
        for step in (0, 50, 100):
            order.progress(step, 100, None)
    return text("done")


# Asking the client in between: a form, a completion, its roots.
def form(message: str, field: str, kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def completion(prompt: str) -> dict[str, Any]:
    said = [{"role": "user", "content": {"type": "text", "text": prompt}}]
    return {"method": "sampling/createMessage", "params": {"messages": said, "maxTokens": 100}}


ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}


def asking(**asks: dict[str, Any]) -> Run:
    """Ask for all of these; go on once all are there."""

    def run(order: ToolRequest) -> ToolResult:
        if asks.keys() <= order.inputs.keys():
            return text(f"Hello, {sorted(order.inputs)}")
        return ToolResult([], asks=asks)

    return run


def sealed(step: str) -> str:
    return f"{step}.{hmac.new(b'a test', step.encode(), hashlib.sha256).hexdigest()}"


def opened(state: str) -> str:
    step = state.partition(".")[0]
    if not hmac.compare_digest(state, sealed(step)):
        raise Invalid("requestState was changed", field="requestState")
    return step


def with_state(*rounds: dict[str, dict[str, Any]]) -> Run:
    """One round of asks after the other; the state says which comes next."""

    def run(order: ToolRequest) -> ToolResult:
        step = 0 if order.state is None else int(opened(order.state))
        if step > 0 and not rounds[step - 1].keys() <= order.inputs.keys():
            step -= 1
        if step == len(rounds):
            return text("state-ok")
        return ToolResult([], asks=rounds[step], state=sealed(str(step + 1)))

    return run


def by_capability(order: ToolRequest) -> ToolResult:
    can = {
        "elicitation": form("Who?", "name"),
        "sampling": completion("Say something"),
        "roots": ROOTS,
    }
    return ToolResult([], asks={name: ask for name, ask in can.items() if name in order.capabilities})


def needs_sampling(order: ToolRequest) -> ToolResult:
    if "sampling" not in order.capabilities:
        raise Unready("This tool needs sampling", reason="capability", required={"sampling": {}})
    return text("sampled")


ALL_THREE = {"user_name": form("Name?", "name"), "greeting": completion("Greet"), "client_roots": ROOTS}
OK = {"confirm": form("Please confirm", "ok", "boolean")}

RUNS: Mapping[str, Run] = {
    "test_simple_text": lambda order: text("This is a simple text response for testing."),
    "test_image_content": lambda order: ToolResult([IMAGE]),
    "test_audio_content": lambda order: ToolResult([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]),
    "test_embedded_resource": lambda order: ToolResult(
        [resource("test://embedded-resource", "text/plain", "Embedded.")]
    ),
    "test_multiple_content_types": lambda order: ToolResult([{"type": "text", "text": "Mixed:"}, IMAGE, MIXED]),
    "test_tool_with_progress": with_progress,
    "test_error_handling": lambda order: ToolResult(
        [{"type": "text", "text": "This tool always fails"}], is_error=True
    ),
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": asking(name=form("Name?", "name")),
    "test_logging_tool": lambda order: text("nothing was logged"),
    "json_schema_2020_12_tool": lambda order: text("ok"),
    "test_input_required_result_elicitation": asking(user_name=form("What is your name?", "name")),
    "test_input_required_result_sampling": asking(capital_question=completion("What is the capital of France?")),
    "test_input_required_result_list_roots": asking(client_roots=ROOTS),
    "test_input_required_result_request_state": with_state(OK),
    "test_input_required_result_multiple_inputs": with_state(ALL_THREE),
    "test_input_required_result_multi_round": with_state(
        {"step1": form("Name?", "name")}, {"step2": form("Colour?", "color")}
    ),
    "test_input_required_result_tampered_state": with_state(OK),
    "test_input_required_result_capabilities": by_capability,
}

SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
}


class Everything:
    name, title, version = "everything", "Conformance fixture", "1.0.0"

    def identify(self, caller: Caller) -> Principal:
        return OWNER

    def get_instructions(self, caller: Caller) -> str:
        return "A fixture for the conformance suite."

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return [
            {"name": name, "description": f"Fixture {name}", "inputSchema": SCHEMAS.get(name, {"type": "object"})}
            for name in RUNS
        ]

    def start_call(self, order: ToolRequest, done: OnDone) -> CancelToken:
        if order.name not in RUNS:
            raise Missing(f"Unknown tool: {order.name}")
        if order.name == "test_missing_capability" or order.state is not None:
            answer = RUNS[order.name](order)  # it may refuse, which it must do before it begins
            done(answer)
        else:
            threading.Thread(target=lambda: done(RUNS[order.name](order)), daemon=True).start()
        return CancelToken()
