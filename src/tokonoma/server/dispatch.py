"""From the protocol to the pipeline: which tools a caller sees, and how a request becomes a call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokonoma.catalogue.registry import GATEWAY, Registry, to_mcp_tool
from tokonoma.core.call import Call, Caller, Principal
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Missing
from tokonoma.core.module import ModuleInfo
from tokonoma.core.tracing import Tracer, format_traceparent
from tokonoma.gateway import INSTRUCTIONS, META_TOOLS, describe_modules
from tokonoma.pipeline.identify import CallerIdentifier
from tokonoma.server import prompts
from tokonoma.server.mcp.interface import OnDone, ToolRequest, ToolResult
from tokonoma.server.results import build_result, choose_codes

RunCall = Callable[[Call, Callable[[Call, BaseException | None], None]], None]


class ToolDispatcher:
    name = "tokonoma"
    title = "Tokonoma"

    def __init__(
        self,
        version: str,
        registry: Registry,
        run: RunCall,
        identify: CallerIdentifier,
        direct: Sequence[str] = (),
        tracer: Tracer | None = None,
    ) -> None:
        self.version = version
        self._registry, self._run, self._identify, self._direct, self._tracer = registry, run, identify, direct, tracer

    def recall(self, caller: Caller) -> Principal | None:
        return self._identify.recall(caller)

    def identify(self, caller: Caller) -> Principal:
        return self._identify(caller)

    def get_instructions(self, caller: Caller) -> str:
        return "\n".join([INSTRUCTIONS, *prompts.list_instructions(self._list_modules(caller))])

    def list_prompts(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return prompts.list_prompts(self._list_modules(caller))

    def get_prompt(self, caller: Caller, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        return prompts.get_prompt(self._list_modules(caller), name, arguments)

    def _list_modules(self, caller: Caller) -> Sequence[ModuleInfo]:
        return self._registry.visible_modules(self._identify(caller))

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        principal = self._identify(caller)
        modules = self._registry.visible_modules(principal)
        tools = [to_mcp_tool(self._registry.find_meta_tool(name)) for name in META_TOOLS]
        tools[0] = {**tools[0], "description": describe_modules(tools[0]["description"], modules)}
        direct = [module for module in modules if module.name in self._direct or "all" in self._direct]
        return tools + [to_mcp_tool(tool, principal.reach) for module in direct for tool in module.entries]

    def start_call(self, request: ToolRequest, done: OnDone) -> CancelToken:
        call = self._build_call(request)
        span = None if self._tracer is None else self._tracer.start("tools/call", request.trace_parent)
        if span is not None:
            call.trace_parent = format_traceparent(span.trace_id, span.span_id)

        def finish(call: Call, error: BaseException | None) -> None:
            done(self._to_result(call, error))
            if span is not None:
                if call.tool_info is not None or request.name in META_TOOLS:
                    span.rename(f"tools/call {request.name}")
                span.end(error)

        self._run(call, finish)
        return call.cancel_token

    def _build_call(self, request: ToolRequest) -> Call:
        """Build the call. The meta-tool `call` is unwrapped here, so that the pipeline sees the tool itself."""
        module, tool, params, tool_info = "", request.name, request.arguments, None
        if tool == "call" and _can_unwrap(params):
            module, tool, params = params["module"], params["tool_name"], params.get("params") or dict[str, Any]()
        elif tool in META_TOOLS:
            module, tool_info = GATEWAY, self._registry.find_meta_tool(tool)
        return Call(
            module,
            tool,
            params,
            request.caller,
            trace_parent=request.trace_parent,
            progress=request.progress,
            bytes_in=request.bytes_in,
            tool_info=tool_info,
        )

    def _to_result(self, call: Call, error: BaseException | None) -> ToolResult:
        if isinstance(error, Missing) and call.module == "":
            return ToolResult([], refusal=error)  # MCP wants an unknown tool refused by the protocol itself
        return build_result(
            call, error, choose_codes(self._registry.error_codes, call, error) if error is not None else {}
        )


def _can_unwrap(arguments: Mapping[str, Any]) -> bool:
    """Whether the arguments of `call` have the right shape; if not, the gateway's own tool reports what is wrong."""
    named = isinstance(arguments.get("module"), str) and isinstance(arguments.get("tool_name"), str)
    known = arguments.keys() <= {"module", "tool_name", "params"}
    return named and known and isinstance(arguments.get("params"), dict | None)
