"""From the protocol to the pipeline: which tools a caller sees, and how a request becomes a call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokonoma.catalogue.registry import GATEWAY, Registry, to_mcp_tool
from tokonoma.core.call import Call, Caller, Principal
from tokonoma.core.concurrency import CancelToken, do_nothing
from tokonoma.core.errors import Missing
from tokonoma.core.module import ModuleInfo
from tokonoma.core.tracing import Tracer, format_traceparent
from tokonoma.gateway import GATEWAY_TOOLS, META_TOOLS, describe_modules, list_meta_tools
from tokonoma.gateway.guidance import Language, ToolSurface, build_instructions, build_prompts, describe_surface
from tokonoma.gateway.slips import read_call
from tokonoma.pipeline.identify import CallerIdentifier
from tokonoma.server import prompts, resources
from tokonoma.server.access import AccessWatch
from tokonoma.server.mcp.interface import TOOL_CALL, ChangeListener, OnDone, OnLoss, ToolRequest, ToolResult
from tokonoma.server.mcp.resource_calls import PROMPT
from tokonoma.server.questions import add_question, has_declined
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
        feed: resources.ChangeFeed | None = None,
        language: Language = "en",
        surface: str = "default",
        access: AccessWatch | None = None,
    ) -> None:
        self.version, self._feed, self._access = version, feed, access
        self.language: Language = language
        self._meta_tools = GATEWAY_TOOLS if surface == "gateway" else META_TOOLS
        self._registry, self._run, self._identify, self._direct, self._tracer = registry, run, identify, direct, tracer

    def recall(self, caller: Caller) -> Principal | None:
        return self._identify.recall(caller)

    def identify(self, caller: Caller) -> Principal:
        return self._identify(caller)

    def get_instructions(self, caller: Caller) -> str:
        modules = self._list_modules(caller)
        own = build_instructions(self.language, self._describe_surface(modules))
        return "\n".join([own, *prompts.list_instructions(self._name_prompts(modules))])

    def list_prompts(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return prompts.list_prompts(self._name_prompts(self._list_modules(caller)))

    def get_prompt(self, caller: Caller, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        return prompts.get_prompt(self._name_prompts(self._list_modules(caller)), name, arguments)

    def relays_prompt(self, caller: Caller, name: str) -> bool:
        return prompts.find_relayed(self._list_modules(caller), name) is not None

    def list_templates(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return resources.list_templates(self._list_modules(caller))

    def listen(self, listener: ChangeListener) -> None:
        if self._feed is not None:
            self._feed.listen(listener)

    def stop_listening(self, listener: ChangeListener) -> None:
        if self._feed is not None:
            self._feed.stop_listening(listener)

    def follow_access(self, caller: Caller, on_loss: OnLoss) -> Callable[[], None]:
        return do_nothing if self._access is None else self._access.follow(caller, on_loss)

    def _list_modules(self, caller: Caller) -> Sequence[ModuleInfo]:
        return self._registry.visible_modules(self._identify(caller))

    def _describe_surface(self, modules: Sequence[ModuleInfo]) -> ToolSurface:
        return describe_surface(list_meta_tools(modules, self._meta_tools), modules, self._direct)

    def _name_prompts(self, modules: Sequence[ModuleInfo]) -> prompts.NamedPrompts:
        house = build_prompts(self.language, self._describe_surface(modules))
        return prompts.name_prompts(house, modules, self.language)

    def list_tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        principal = self._identify(caller)
        modules = self._registry.visible_modules(principal)
        names = list_meta_tools(modules, self._meta_tools)
        tools = [to_mcp_tool(self._registry.find_meta_tool(name)) for name in names]
        tools[0] = {**tools[0], "description": describe_modules(tools[0]["description"], modules)}
        direct = [module for module in modules if module.name in self._direct or "all" in self._direct]
        return tools + [to_mcp_tool(tool, principal.reach) for module in direct for tool in module.entries]

    def start_call(self, request: ToolRequest, done: OnDone) -> CancelToken:
        call = self._build_call(request)
        span = None if self._tracer is None else self._tracer.start(request.method, request.trace_parent)
        if span is not None:
            call.trace_parent = format_traceparent(span.trace_id, span.span_id)

        def finish(call: Call, error: BaseException | None) -> None:
            done(self._to_result(request, call, error))
            if span is not None:
                if request.method == TOOL_CALL and (call.tool_info is not None or request.name in self._meta_tools):
                    span.rename(f"tools/call {request.name}")
                span.end(error)

        self._run(call, finish)
        return call.cancel_token

    def _build_call(self, request: ToolRequest) -> Call:
        """Build the call. The meta-tool `call` is unwrapped here, so that the pipeline sees the tool itself."""
        module, tool, params, tool_info = "", request.name, request.arguments, None
        corrections: list[str] = []
        if request.method == PROMPT:
            module, tool, params = self._find_prompt(request)
        elif request.method != TOOL_CALL:
            module, tool = GATEWAY, resources.RESOURCE_CALLS[request.method]
            tool_info = self._registry.find_meta_tool(tool)
        elif tool == "call" and (written := read_call(params)) is not None:
            module, tool, params, corrections = written
        elif tool in self._meta_tools:
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
            corrections=corrections,
            verdict="declined" if has_declined(request) else "allow",
        )

    def _find_prompt(self, request: ToolRequest) -> tuple[str, str, Mapping[str, Any]]:
        found = prompts.find_relayed(self._list_modules(request.caller), request.arguments["name"])
        if found is None:
            raise Missing("Unknown prompt", name=request.arguments["name"])
        module, prompt = found
        return module.name, prompt.tools[0], {**request.arguments, "name": prompt.name}

    def _to_result(self, request: ToolRequest, call: Call, error: BaseException | None) -> ToolResult:
        if isinstance(error, Exception) and request.method != TOOL_CALL:
            return ToolResult([], refusal=error)
        if isinstance(error, Missing) and call.module == "":
            return ToolResult([], refusal=error)  # MCP wants an unknown tool refused by the protocol itself
        if error is None:
            return build_result(call, None, {})
        codes = choose_codes(self._registry.error_codes, call, error)
        return add_question(request, error, build_result(call, error, codes))
