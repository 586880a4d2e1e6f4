"""A small front for tests of the wire: real threads, real cancellation, no clocks."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Denied, Invalid, Limited, Missing, Refusal, Unauthenticated, Unready
from tokonoma.server.mcp.interface import ChangeListener, OnDone, OnLoss, ToolRequest, ToolResult
from tokonoma.server.prompts import get_prompt, list_prompts

Run = Callable[["Workshop", ToolRequest, CancelToken], ToolResult]


def text(words: str, *, is_error: bool = False, **structured: Any) -> ToolResult:
    return ToolResult([{"type": "text", "text": words}], structured or None, is_error)


def echo(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    words = str(request.arguments.get("text", ""))
    return text(words, text=words)


def who(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    caller = request.caller
    return text(
        "you", client=caller.client, transport=caller.transport, trace=request.trace_parent, size=request.bytes_in
    )


def wait(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    """Until `open` is called with the same gate, or the call is told to stop."""
    gate = shop.gate(str(request.arguments["gate"]))
    shop.gate(f"{request.arguments['gate']} reached").set()
    try:
        stop.attach(gate.set)
        gate.wait()
        stop.detach(gate.set)
    finally:
        shop.stopped.append(stop.reason)
        shop.gate(f"{request.arguments['gate']} left").set()
    return text(stop.reason or "opened", is_error=bool(stop.reason))


def stubborn(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    """Like wait, but deaf to cancellation."""
    shop.gate(f"{request.arguments['gate']} reached").set()
    shop.gate(str(request.arguments["gate"])).wait()
    return text("opened at last")


def open_gate(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    shop.gate(str(request.arguments["gate"])).set()
    return text("open")


def count(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    to = int(request.arguments["to"])
    for step in range(to + 1):
        if request.progress is not None:
            request.progress(step, to, f"step {step}")
    if "gate" in request.arguments:
        shop.gate(str(request.arguments["gate"])).wait()
    return text(f"counted to {to}", to=to)


def fail(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    return text('{"error":{"code":"INVALID_ARGUMENT","message":"as asked"}}', is_error=True)


def speak(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    """What should never be printed to stdout, printed to stdout."""
    print("not a message")  # noqa: T201
    return text("spoken")


def odd(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    return ToolResult([], {"value": object()})


def large(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    return text("x" * int(request.arguments["size"]))


def ready_made(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    return ToolResult([], b'{"made":true}', meta={"from": "bytes"})


def ready_large(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    return ToolResult([], orjson.dumps({"text": "x" * int(request.arguments["size"])}))


def gone(shop: "Workshop", request: ToolRequest, stop: CancelToken) -> ToolResult:
    return ToolResult([], refusal=Missing("It is no longer there.", nearest=["echo"]))


RUNS: dict[str, Run] = {
    "echo": echo, "who": who, "wait": wait, "stubborn": stubborn, "open": open_gate, "count": count, "fail": fail,
    "speak": speak, "odd": odd, "large": large, "ready_made": ready_made, "ready_large": ready_large, "gone": gone,
}  # fmt: skip


def tool(name: str, **fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"name": name, "title": name.title(), "description": f"The tool {name}.", "inputSchema": schema, **fields}


TOOLS: list[dict[str, Any]] = [tool(name) for name in RUNS]


class Workshop:
    """`keys`: when given, only callers with one of these tokens are known."""

    name, title, version = "workshop", "The Workshop", "1.2.3"

    def __init__(self, keys: Mapping[str, Principal] | None = None, tools: Sequence[Mapping[str, Any]] = TOOLS) -> None:
        self.keys = keys
        self.listed = tools
        self.requests: list[ToolRequest] = []
        self.stopped: list[str] = []
        self.listeners: list[ChangeListener] = []
        self.followers: dict[object, tuple[Caller, OnLoss]] = {}
        self.marks: dict[str, str] = {}
        self.list_mark = ""
        self.problem: Refusal | None = None
        self._gates: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def gate(self, name: str) -> threading.Event:
        with self._lock:
            return self._gates.setdefault(name, threading.Event())

    def recall(self, caller: Caller) -> Principal | None:
        return None

    def identify(self, caller: Caller) -> Principal:
        if self.keys is None:
            return OWNER
        if caller.token not in self.keys:
            raise Unauthenticated("This server needs a key.")
        return self.keys[caller.token or ""]

    def get_instructions(self, caller: Caller) -> str:
        return "Call echo first."

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return self.listed

    def list_prompts(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return list_prompts({})

    def get_prompt(self, caller: Caller, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        return get_prompt({}, name, arguments)

    def relays_prompt(self, caller: Caller, name: str) -> bool:
        return False

    def list_templates(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return []

    def listen(self, listener: ChangeListener) -> None:
        self.listeners.append(listener)

    def stop_listening(self, listener: ChangeListener) -> None:
        if listener in self.listeners:
            self.listeners.remove(listener)

    def follow_access(self, caller: Caller, on_loss: OnLoss) -> Callable[[], None]:
        follower = object()
        self.followers[follower] = caller, on_loss
        return lambda: self.followers.pop(follower, None) and None

    def take_away(self, ended: bool = True) -> None:
        """All credentials end, or may use less: whoever has something open loses it."""
        if ended:
            self.keys = {}
        refusal = Unauthenticated("This key has ended.") if ended else Denied("Send it again.", reason="narrowed")
        for _, on_loss in list(self.followers.values()):
            on_loss(refusal, ended)

    def start_call(self, request: ToolRequest, done: OnDone) -> CancelToken:
        if request.method != "tools/call":
            done(self._answer_resources(request))
            return CancelToken()
        if request.name == "busy":
            raise Limited("Too many calls.", retry_after=7)
        if request.name == "crash":
            raise RuntimeError("the secret of the house")
        if request.name == "sampler" and "sampling" not in request.capabilities:
            raise Unready("This tool needs sampling.", reason="capability", required={"sampling": {}})
        if request.name not in RUNS:
            raise Missing(f"Unknown tool: {request.name}", nearest=["echo"])
        self.requests.append(request)
        stop = CancelToken()
        threading.Thread(target=self._work, args=(request, stop, done), daemon=True).start()
        return stop

    def _answer_resources(self, request: ToolRequest) -> ToolResult:
        """`marks` are the resources that there are."""
        try:
            self.identify(request.caller)
            if self.problem is not None:
                raise self.problem
        except Refusal as refusal:
            return ToolResult([], refusal=refusal)
        if request.method == "resources/read":
            return ToolResult([], refusal=Missing("There is no record.", reason="resource"))
        if "cursor" in request.arguments:
            return ToolResult([], refusal=Invalid("This cursor is not from this list."))
        if request.method == "resources/list":
            return ToolResult([], orjson.dumps({"resources": [], "mark": self.list_mark}))
        if request.method == "completion/complete":
            return ToolResult([], b'{"completion":{"values":[],"total":0,"hasMore":false}}')
        found = {uri: self.marks[uri] for uri in request.arguments["uris"] if uri in self.marks}
        return ToolResult([], orjson.dumps({"found": found, "list": self.list_mark}))

    def _work(self, request: ToolRequest, stop: CancelToken, done: OnDone) -> None:
        try:
            answer = RUNS[request.name](self, request, stop)
        except Refusal as refusal:  # told to stop before it could begin
            answer = text(refusal.message, is_error=True)
        done(answer)
