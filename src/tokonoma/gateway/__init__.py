"""The gateway: three tools through which a client reaches every module.

This file holds what a client reads before its first call; it imports nothing heavy, because it is needed at start.
"""

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


def describe_modules(text: str, modules: Sequence[ModuleInfo]) -> str:
    """The description of `get_module_schema` with this caller's modules, which saves the caller a call."""
    lines = "\n".join(f"- {module.name}: {module.summary}" for module in modules)
    return f"{text}\nModules:\n{lines}" if modules else f"{text}\nThis credential can see no module."
