"""What an agent reads before it calls anything: the instructions, and the modules named in a tool's own description."""

from collections.abc import Sequence

from tokonoma.core.module import ModuleInfo

META_TOOLS = ("get_module_schema", "call", "batch")

INSTRUCTIONS = """\
Tokonoma is its owner's personal context server. Everything is reached through three tools.
1. get_module_schema(module) tells what the tools of a module take and give. Read it once a module, then remember it.
2. call(module, tool_name, params) runs one tool.
3. batch(jsonl) runs several, one JSON object a line; `after` orders them, "${id.path}" passes one step's result on, \
and only steps with "output": true come back. Use it to keep intermediate results out of your context.
A failed call says what was wrong and what is allowed: correct it and call again. \
Lists come in pages: pass next_cursor as cursor."""


def describe_modules(text: str, shelves: Sequence[ModuleInfo]) -> str:
    """The description of `get_module_schema` with this caller's modules in it, so that none is spent finding them."""
    lines = "\n".join(f"- {shelf.name}: {shelf.summary}" for shelf in shelves)
    return f"{text}\nModules:\n{lines}" if shelves else f"{text}\nThis credential can see no module."
