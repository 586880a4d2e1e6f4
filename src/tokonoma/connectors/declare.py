"""From a declared service to a module: each line becomes a function with a signature, as any other tool has one."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from tokonoma.connectors.answers import ServiceDone, ServiceList, run_tool
from tokonoma.connectors.model import Service, ServiceTool
from tokonoma.connectors.paging import DEFAULT_LIMIT
from tokonoma.connectors.parameters import ServiceParam, list_params
from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.module import Module, Tool
from tokonoma.core.providers import SERVICE_CODES

_ACCOUNT = Annotated[str | None, Field(max_length=200)]
_NOTES = (
    "No type: str. All take account? and, unless done, fields? ([str]; +path: default and path; *: all).",
    f"list: limit? ({DEFAULT_LIMIT}), cursor? -> {{items, has_more, next_cursor?}}",
)
_PLAIN_WORDS = frozenset({"a", "add", "an", "create", "delete", "get", "list", "new", "of", "one", "open", "the"})


def declare_module(service: Service) -> Module:
    return Module(
        name=service.name,
        summary=service.summary,
        tools=tuple(_declare_tool(service, tool) for tool in service.tools),
        codes=SERVICE_CODES,
        notes=(
            f"{service.title} API {service.api_version}.",
            *_NOTES,
            *(f"{name} = {shape}" for name, shape in service.types.items()),
        ),
    )


def takes_fields(tool: ServiceTool, params: Sequence[ServiceParam]) -> bool:
    """Jira has a parameter of this name itself; what such a tool returns is short."""
    return not tool.is_done and all(param.name != "fields" for param in params)


def _declare_tool(service: Service, tool: ServiceTool) -> Tool:
    params = list_params(service, tool)
    return Tool(
        name=tool.name,
        run=_build_function(service, tool, params),
        title=tool.name.replace("_", " ").capitalize(),
        effect=tool.find_effect(),
        outside=True,
        idempotent=tool.is_repeatable,
        extra=tool.extra,
        signature=_format_signature(tool, params),
        projects=takes_fields(tool, params),
    )


def _build_function(service: Service, tool: ServiceTool, params: list[ServiceParam]) -> Callable[..., Any]:
    async def run(desk: AsyncDesk, **given: Any) -> Any:
        return await run_tool(desk, service, tool, params, given)

    hints = _list_hints(tool, params)
    make = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    desk = inspect.Parameter("desk", inspect.Parameter.POSITIONAL_ONLY)
    signature = [make(name, default=default, annotation=hint) for name, (hint, default) in hints.items()]
    returns = ServiceDone if tool.is_done else ServiceList if tool.is_list and not tool.or_record else dict[str, Any]
    run.__name__, run.__doc__ = tool.name, tool.says
    run.__annotations__ = {"desk": AsyncDesk, **{name: hint for name, (hint, _) in hints.items()}, "return": returns}
    run.__signature__ = inspect.Signature([desk, *signature])  # type: ignore[attr-defined]
    return run


def _list_hints(tool: ServiceTool, params: Sequence[ServiceParam]) -> dict[str, tuple[Any, Any]]:
    """Name → (type, default) of all parameters."""
    empty = inspect.Parameter.empty
    hints: dict[str, tuple[Any, Any]] = {
        param.name: (param.build_hint(), empty) if param.required else (param.build_hint() | None, None)
        for param in params
    }
    hints["account"] = (_ACCOUNT, None)
    if takes_fields(tool, params):
        said = f"default: {tool.fields}" if tool.fields != "*" else "default: all"
        hints["fields"] = (Annotated[list[str] | None, Field(max_length=100, description=said)], None)
    if tool.page is not None:
        hints["limit"] = (Annotated[int, Field(ge=1, le=tool.page.most)], DEFAULT_LIMIT)
        hints["cursor"] = (str | None, None)
    return hints


def _format_signature(tool: ServiceTool, params: Sequence[ServiceParam]) -> str:
    """What all tools take is said once, in the notes of the module; what only repeats the name is left out."""
    taken = ", ".join(param.format() for param in params)
    kind = "done" if tool.is_done else "list" if tool.page else "items" if tool.is_list else ""
    says = set(tool.says.lower().removesuffix(".").split()) - _PLAIN_WORDS
    is_name = says <= set(tool.name.split("_"))
    return f"{tool.name}({taken}){f' -> {kind}' if kind else ''}{'' if is_name else f': {tool.says[:-1]}'}"
