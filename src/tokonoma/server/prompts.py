"""Prompts of the modules: which of them a caller sees, and their text with the caller's arguments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import ModuleInfo, Prompt


def list_prompts(modules: Sequence[ModuleInfo]) -> list[dict[str, Any]]:
    """Of the modules with the tools that the caller sees, in the shape of MCP's `prompts/list`."""
    return [
        {
            "name": name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": [
                {"name": each.name, "description": each.description, "required": each.required}
                for each in prompt.arguments
            ],
        }
        for name, prompt in _iterate_visible(modules)
    ]


def get_prompt(modules: Sequence[ModuleInfo], name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    """In the shape of MCP's `prompts/get`; Missing for a prompt that the caller does not see."""
    prompt = dict(_iterate_visible(modules)).get(name)
    if prompt is None:
        raise Missing("Unknown prompt", name=name)
    known = {each.name: each.required for each in prompt.arguments}
    if unknown := sorted(arguments.keys() - known.keys()):
        raise Invalid(f"Unknown argument {unknown[0][:80]!r}. There are: {', '.join(known) or 'none'}.")
    if lacking := [each for each, required in known.items() if required and not arguments.get(each, "").strip()]:
        raise Invalid(f"The argument {lacking[0]!r} is required.")
    content = {"type": "text", "text": _fill_text(prompt.text, {**dict.fromkeys(known, ""), **arguments})}
    return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}


def list_instructions(modules: Sequence[ModuleInfo]) -> list[str]:
    return [prompt.instruction for _, prompt in _iterate_visible(modules) if prompt.instruction]


def _iterate_visible(modules: Sequence[ModuleInfo]) -> Iterator[tuple[str, Prompt]]:
    for module in modules:
        seen = {entry.name for entry in module.entries}
        yield from ((f"{module.name}_{each.name}", each) for each in module.prompts if seen.issuperset(each.tools))


def _fill_text(text: str, arguments: Mapping[str, str]) -> str:
    """In one pass: braces in an argument are not filled in again."""
    start, *rest = text.split("{")
    filled = [start]
    for part in rest:
        name, closed, after = part.partition("}")
        filled.append(arguments[name] + after if closed and name in arguments else "{" + part)
    return "".join(filled)
