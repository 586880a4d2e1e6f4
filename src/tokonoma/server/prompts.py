"""Prompts of the house and of the modules: which of them a caller sees, and their text with the caller's arguments."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import ModuleInfo, Prompt
from tokonoma.gateway.guidance import split_condition

NamedPrompts = Mapping[str, Prompt]
"""The prompts that a caller sees, by the names under which they are listed"""


def name_prompts(house: Sequence[Prompt], modules: Sequence[ModuleInfo], language: str = "en") -> NamedPrompts:
    """Those of the house, and of the modules with the tools that the caller sees."""
    seen = {each.name: each for each in house}
    for module in modules:
        tools = {entry.name for entry in module.entries}
        offered = (each for each in module.prompts if tools.issuperset(each.tools))
        seen |= {f"{module.name}_{each.name}": each.translate(language) for each in offered}
    return seen


def list_prompts(prompts: NamedPrompts) -> list[dict[str, Any]]:
    """In the shape of MCP's `prompts/list`."""
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
        for name, prompt in prompts.items()
    ]


def get_prompt(prompts: NamedPrompts, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    """In the shape of MCP's `prompts/get`; Missing for a prompt that the caller does not see."""
    prompt = prompts.get(name)
    if prompt is None:
        raise Missing("Unknown prompt", name=name)
    known = {each.name: each.required for each in prompt.arguments}
    if unknown := sorted(arguments.keys() - known.keys()):
        raise Invalid(f"Unknown argument {unknown[0][:80]!r}. There are: {', '.join(known) or 'none'}.")
    if lacking := [each for each, required in known.items() if required and not arguments.get(each, "").strip()]:
        raise Invalid(f"The argument {lacking[0]!r} is required.")
    content = {"type": "text", "text": _fill_text(prompt.text, {**dict.fromkeys(known, ""), **arguments})}
    return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}


def find_relayed(modules: Sequence[ModuleInfo], name: str) -> tuple[ModuleInfo, Prompt] | None:
    """The prompt of an MCP server with this listed name, if the caller sees the tool that gets it."""
    for module in modules:
        if module.upstream and name.startswith(f"{module.name}_"):
            tools = {entry.name for entry in module.entries}
            for prompt in module.prompts:
                if name == f"{module.name}_{prompt.name}" and tools.issuperset(prompt.tools):
                    return module, prompt
    return None


def list_instructions(prompts: NamedPrompts) -> list[str]:
    return [prompt.instruction for prompt in prompts.values() if prompt.instruction]


def _fill_text(text: str, arguments: Mapping[str, str]) -> str:
    """In one pass: braces in an argument are not filled in again."""
    lines = [(line, *split_condition(line)) for line in text.split("\n")]
    kept = (rest if name in arguments else line for line, name, rest in lines if arguments.get(name, "x").strip())
    start, *rest = "\n".join(kept).split("{")
    filled = [start]
    for part in rest:
        name, closed, after = part.partition("}")
        filled.append(arguments[name] + after if closed and name in arguments else "{" + part)
    return "".join(filled)
