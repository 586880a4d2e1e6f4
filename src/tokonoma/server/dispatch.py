"""The house as the wire sees it: which tools a caller is shown, and how an order becomes a call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokonoma.catalogue.registry import GATEWAY, Registry, to_mcp_tool
from tokonoma.core.call import Call, Caller, Principal
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import ErrorCodes, Missing
from tokonoma.core.tracing import Tracer, format_traceparent
from tokonoma.gateway import INSTRUCTIONS, META_TOOLS, describe_modules
from tokonoma.server.mcp.interface import OnDone, ToolRequest, ToolResult
from tokonoma.server.results import build_result

RunCall = Callable[[Call, Callable[[Call, BaseException | None], None]], None]


class ToolDispatcher:
    name = "tokonoma"
    title = "Tokonoma"

    def __init__(
        self,
        version: str,
        registry: Registry,
        run: RunCall,
        identify: Callable[[Caller], Principal],
        direct: Sequence[str] = (),
        spans: Tracer | None = None,
    ) -> None:
        self.version = version
        self._registry, self._run, self._identify, self._direct, self._spans = registry, run, identify, direct, spans

    def identify(self, caller: Caller) -> Principal:
        return self._identify(caller)

    def get_instructions(self, caller: Caller) -> str:
        del caller
        return INSTRUCTIONS

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        shelves = self._registry.visible_modules(self._identify(caller))
        listed = [to_mcp_tool(self._registry.find_meta_tool(name)) for name in META_TOOLS]
        listed[0] = {**listed[0], "description": describe_modules(listed[0]["description"], shelves)}
        shown = [shelf for shelf in shelves if shelf.name in self._direct or "all" in self._direct]
        return listed + [to_mcp_tool(entry) for shelf in shown for entry in shelf.entries]

    def start_call(self, order: ToolRequest, done: OnDone) -> CancelToken:
        call = self._build_call(order)
        if self._spans is None:
            self._run(call, lambda call, error: done(self._to_result(call, error)))
            return call.cancel_token
        span = self._spans.start("tools/call", order.trace_parent)
        call.trace_parent = format_traceparent(span.trace_id, span.span_id)

        def finished(call: Call, error: BaseException | None) -> None:
            done(self._to_result(call, error))
            if call.tool_info is not None or order.name in META_TOOLS:
                span.rename(f"tools/call {order.name}")
            span.end(error)

        self._run(call, finished)
        return call.cancel_token

    def _build_call(self, order: ToolRequest) -> Call:
        """`call` is unwrapped here, so that what walks the pipeline is the tool that is meant."""
        given = order.arguments
        if order.name == "call" and _can_unwrap(given):
            return self._new_call(order, given["module"], given["tool_name"], given.get("params") or {})
        if order.name in META_TOOLS:
            call = self._new_call(order, GATEWAY, order.name, given)
            call.tool_info = self._registry.find_meta_tool(order.name)
            return call
        return self._new_call(order, "", order.name, given)

    def _new_call(self, order: ToolRequest, module: str, tool: str, params: Mapping[str, Any]) -> Call:
        return Call(
            module,
            tool,
            params,
            order.caller,
            trace_parent=order.trace_parent,
            progress=order.progress,
            bytes_in=order.bytes_in,
        )

    def _to_result(self, call: Call, error: BaseException | None) -> ToolResult:
        if isinstance(error, Missing) and call.module == "":
            return ToolResult([], refusal=error)  # MCP wants a name that no list holds refused by the protocol itself
        return build_result(call, error, self._error_codes(call) if error is not None else {})

    def _error_codes(self, call: Call) -> ErrorCodes:
        return self._registry.error_codes(call.module)


def _can_unwrap(given: Mapping[str, Any]) -> bool:
    """Whether `call`'s arguments can be unwrapped; if not, the gateway's own tool says what is wrong with them."""
    fine = isinstance(given.get("module"), str) and isinstance(given.get("tool_name"), str)
    return fine and isinstance(given.get("params"), dict | None) and given.keys() <= {"module", "tool_name", "params"}
