"""The house as the wire sees it: which tools a caller is shown, and how an order becomes a call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokonoma.catalogue.registry import GATEWAY, Registry, listing
from tokonoma.core.call import Call, Caller, Principal
from tokonoma.core.cancellation import Stop
from tokonoma.core.errors import Codes, Missing
from tokonoma.core.tracing import Spans, traceparent
from tokonoma.gateway.instructions import INSTRUCTIONS, META, schema_description
from tokonoma.server.mcp.interface import Answer, Done, Order
from tokonoma.server.results import answer

Run = Callable[[Call, Callable[[Call, BaseException | None], None]], None]


class HouseFront:
    name = "tokonoma"
    title = "Tokonoma"

    def __init__(
        self,
        version: str,
        registry: Registry,
        run: Run,
        identify: Callable[[Caller], Principal],
        direct: Sequence[str] = (),
        spans: Spans | None = None,
    ) -> None:
        self.version = version
        self._registry, self._run, self._find, self._direct, self._spans = registry, run, identify, direct, spans

    def identify(self, caller: Caller) -> Principal:
        return self._find(caller)

    def instructions(self, caller: Caller) -> str:
        del caller
        return INSTRUCTIONS

    def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        shelves = self._registry.shelves(self._find(caller))
        listed = [listing(self._registry.meta(name)) for name in META]
        listed[0] = {**listed[0], "description": schema_description(listed[0]["description"], shelves)}
        shown = [shelf for shelf in shelves if shelf.name in self._direct or "all" in self._direct]
        return listed + [listing(entry) for shelf in shown for entry in shelf.entries]

    def start(self, order: Order, done: Done) -> Stop:
        call = self._call(order)
        if self._spans is None:
            self._run(call, lambda call, error: done(self._answer(call, error)))
            return call.stop
        span = self._spans.start("tools/call", order.trace_parent)
        call.trace_parent = traceparent(span.trace_id, span.span_id)

        def finished(call: Call, error: BaseException | None) -> None:
            done(self._answer(call, error))
            if call.entry is not None or order.name in META:
                span.rename(f"tools/call {order.name}")
            span.end(error)

        self._run(call, finished)
        return call.stop

    def _call(self, order: Order) -> Call:
        """`call` is unwrapped here, so that what walks the pipeline is the tool that is meant."""
        given = order.arguments
        if order.name == "call" and _well_formed(given):
            return self._made(order, given["module"], given["tool_name"], given.get("params") or {})
        if order.name in META:
            call = self._made(order, GATEWAY, order.name, given)
            call.entry = self._registry.meta(order.name)
            return call
        return self._made(order, "", order.name, given)

    def _made(self, order: Order, module: str, tool: str, params: Mapping[str, Any]) -> Call:
        return Call(
            module,
            tool,
            params,
            order.caller,
            trace_parent=order.trace_parent,
            progress=order.progress,
            bytes_in=order.bytes_in,
        )

    def _answer(self, call: Call, error: BaseException | None) -> Answer:
        if isinstance(error, Missing) and call.module == "":
            return Answer([], refusal=error)  # MCP wants a name that no list holds refused by the protocol itself
        return answer(call, error, self._codes(call) if error is not None else {})

    def _codes(self, call: Call) -> Codes:
        return self._registry.codes(call.module)


def _well_formed(given: Mapping[str, Any]) -> bool:
    """Whether `call`'s arguments can be unwrapped; if not, the gateway's own tool says what is wrong with them."""
    fine = isinstance(given.get("module"), str) and isinstance(given.get("tool_name"), str)
    return fine and isinstance(given.get("params"), dict | None) and given.keys() <= {"module", "tool_name", "params"}
