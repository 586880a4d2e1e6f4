"""What a client reads before its first call: instructions and prompts. They name only what this caller sees, and follow
how tools are listed. It imports nothing heavy, because it is needed at start."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Literal, NamedTuple

from tokonoma.core.module import ModuleInfo, Prompt
from tokonoma.gateway.texts import en, ja

Language = Literal["en", "ja"]

# The tools to search and to store with where no meta-tool does it, the best one first, and their first parameter.
_SEARCH = {
    "memory.search": "query", "claims.activate": "q", "items.search_items": "query", "manual.find": "query",
    "vault.find": "query",
}  # fmt: skip
_STORE = {"memory.save": "content", "claims.upsert": "text", "items.create_item": "title"}
_REVIEWED = frozenset({"system.timeline", "memory.list", "items.search_items", "claims.list"})


class ToolSurface(NamedTuple):
    """What one caller sees: the meta-tools, all tools (`module.tool` → listed name), the modules that are listed."""

    meta_tools: Collection[str]
    tools: Mapping[str, str]
    direct: Sequence[str]


def describe_surface(
    meta_tools: Collection[str], modules: Sequence[ModuleInfo], direct: Collection[str]
) -> ToolSurface:
    tools = {tool.path: tool.listed for module in modules for tool in module.entries}
    return ToolSurface(
        meta_tools, tools, [module.name for module in modules if "all" in direct or module.name in direct]
    )


def build_instructions(language: Language, surface: ToolSurface) -> str:
    texts = _choose_texts(language)
    search, remember = _describe_ways(surface)
    parts = [texts.INTRODUCTION]
    if search:
        parts.append(texts.RECALL.replace("{search}", search))
    if remember:
        parts.append(texts.REMEMBER.replace("{remember}", remember))
    if "remember" in surface.meta_tools:
        parts.append(texts.SETTLE)
    if surface.direct:
        parts.append(texts.DIRECT.replace("{modules}", reduce(texts.NAMES.format, surface.direct)))
    if not {path.partition(".")[0] for path in surface.tools}.issubset(surface.direct):
        parts.append(texts.CALL)
    return "\n".join([*parts, texts.BATCH, texts.ERRORS, texts.DATA])


def build_prompts(language: Language, surface: ToolSurface) -> list[Prompt]:
    """The prompts of the house, with the lines that this caller can follow."""
    search, remember = _describe_ways(surface)
    usable = {
        "remember": bool(remember),
        "recall": bool(search),
        "review_week": not _REVIEWED.isdisjoint(surface.tools),
        "prepare_meeting": bool(search),
    }
    return [
        replace(prompt, text=_fill_ways(prompt.text, surface, search, remember))
        for prompt in _choose_texts(language).PROMPTS
        if usable[prompt.name]
    ]


def _choose_texts(language: Language):  # noqa: ANN202 - one of two modules with the same names
    return ja if language == "ja" else en


def _describe_ways(surface: ToolSurface) -> tuple[str, str]:
    """How this caller searches and how it stores; empty if it cannot."""
    search = "search(query)" if "search" in surface.meta_tools else _describe_call(_SEARCH, surface)
    return search, "remember(text, kind)" if "remember" in surface.meta_tools else _describe_call(_STORE, surface)


def _describe_call(choices: Mapping[str, str], surface: ToolSurface) -> str:
    for path, parameter in choices.items():
        if path in surface.tools:
            module, _, tool = path.partition(".")
            if module in surface.direct:
                return f"{surface.tools[path]}({parameter})"
            return f'call("{module}", "{tool}", {{"{parameter}": …}})'
    return ""


def _fill_ways(text: str, surface: ToolSurface, search: str, remember: str) -> str:
    """Without the lines about tools that this caller does not see. Lines about arguments are left as they are."""
    lines: list[str] = []
    for line in text.split("\n"):
        condition, rest = split_condition(line)
        if "." not in condition:
            lines.append(line)
        elif condition in surface.tools:
            lines.append(rest)
    return "\n".join(lines).replace("{search}", search).replace("{remember}", remember)


def split_condition(line: str) -> tuple[str, str]:
    """`{?x}text` → `("x", "text")`; an empty condition for any other line."""
    if not line.startswith("{?"):
        return "", line
    condition, _, rest = line[2:].partition("}")
    return condition, rest
