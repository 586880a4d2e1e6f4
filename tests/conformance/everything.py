"""The fixture tools that the official conformance suite asks for, as a front on the real wire."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Missing, Unready
from tokonoma.core.module import ModuleInfo, Prompt, PromptArgument
from tokonoma.server.mcp.interface import ChangeListener, OnDone, OnLoss, ToolRequest, ToolResult
from tokonoma.server.prompts import get_prompt, list_prompts, name_prompts

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

Run = Callable[[ToolRequest], ToolResult]


def text(words: str) -> ToolResult:
    return ToolResult([{"type": "text", "text": words}])


def resource(uri: str, kind: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
MIXED = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')


def with_progress(request: ToolRequest) -> ToolResult:
    if request.progress is not None:
        for step in (0, 50, 100):
            request.progress(step, 100, None)
    return text("done")


def needs_sampling(request: ToolRequest) -> ToolResult:
    if "sampling" not in request.capabilities:
        raise Unready("This tool needs sampling", reason="capability", required={"sampling": {}})
    return text("sampled")


RUNS: Mapping[str, Run] = {
    "test_simple_text": lambda request: text("This is a simple text response for testing."),
    "test_image_content": lambda request: ToolResult([IMAGE]),
    "test_audio_content": lambda request: ToolResult([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]),
    "test_embedded_resource": lambda request: ToolResult(
        [resource("test://embedded-resource", "text/plain", "Embedded.")]
    ),
    "test_multiple_content_types": lambda request: ToolResult([{"type": "text", "text": "Mixed:"}, IMAGE, MIXED]),
    "test_tool_with_progress": with_progress,
    "test_error_handling": lambda request: ToolResult(
        [{"type": "text", "text": "This tool always fails"}], is_error=True
    ),
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": lambda request: text("nothing was asked"),
    "test_logging_tool": lambda request: text("nothing was logged"),
    "json_schema_2020_12_tool": lambda request: text("ok"),
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


PROMPTS = ModuleInfo("test", "", "", (), {}, (
    Prompt("simple_prompt", "Simple", "A prompt without arguments", "This is a simple prompt for testing."),
    Prompt(
        "prompt_with_arguments", "With arguments", "A prompt with two arguments",
        "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'",
        (PromptArgument("arg1", "the first", required=True), PromptArgument("arg2", "the second", required=True)),
    ),
))  # fmt: skip


CONTENTS: dict[str, dict[str, str]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
    "test://template/123/data": {"mimeType": "application/json", "text": '{"id":"123","templateTest":true}'},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}


def answer(request: ToolRequest) -> ToolResult:
    """The methods of resources and of completion."""
    arguments, uri = request.arguments, request.arguments.get("uri", "")
    if request.method == "resources/list":
        listed = [{"uri": uri, "name": uri, "mimeType": each["mimeType"]} for uri, each in CONTENTS.items()]
        return ToolResult([], {"resources": listed})
    if request.method == "resources/read":
        if uri not in CONTENTS:
            return ToolResult([], refusal=Missing("There is no such resource.", reason="resource"))
        return ToolResult([], {"contents": [{"uri": uri, **CONTENTS[uri]}]})
    if request.method == "completion/complete":
        return ToolResult([], {"completion": {"values": [], "total": 0, "hasMore": False}})
    return ToolResult([], {"found": {uri: "1" for uri in arguments["uris"] if uri in CONTENTS}, "list": "1"})


class Everything:
    name, title, version = "everything", "Conformance fixture", "1.0.0"

    def recall(self, caller: Caller) -> Principal | None:
        return OWNER

    def identify(self, caller: Caller) -> Principal:
        return OWNER

    def get_instructions(self, caller: Caller) -> str:
        return "A fixture for the conformance suite."

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return [
            {"name": name, "description": f"Fixture {name}", "inputSchema": SCHEMAS.get(name, {"type": "object"})}
            for name in RUNS
        ]

    def list_prompts(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return list_prompts(name_prompts((), [PROMPTS]))

    def get_prompt(self, caller: Caller, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        return get_prompt(name_prompts((), [PROMPTS]), name, arguments)

    def relays_prompt(self, caller: Caller, name: str) -> bool:
        return False

    def list_templates(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return [{"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}]

    def listen(self, listener: ChangeListener) -> None:
        pass

    def stop_listening(self, listener: ChangeListener) -> None:
        pass

    def follow_access(self, caller: Caller, on_loss: OnLoss) -> Callable[[], None]:
        return lambda: None

    def start_call(self, request: ToolRequest, done: OnDone) -> CancelToken:
        if request.method != "tools/call":
            done(answer(request))
            return CancelToken()
        if request.name not in RUNS:
            raise Missing(f"Unknown tool: {request.name}")
        if request.name == "test_missing_capability":
            done(RUNS[request.name](request))  # it may refuse, which it must do before it begins
        else:
            threading.Thread(target=lambda: done(RUNS[request.name](request)), daemon=True).start()
        return CancelToken()
