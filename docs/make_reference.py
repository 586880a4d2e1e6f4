"""Writes docs/reference from the code: `make reference`. A test fails when a committed page differs."""

import ast
import importlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from tokonoma import catalogue
from tokonoma.catalogue.signature_text import format_type
from tokonoma.cli.program import program
from tokonoma.config import settings
from tokonoma.connectors.answers import COMMON
from tokonoma.connectors.model import ServiceTool
from tokonoma.core import errors
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.gateway import META_TOOLS
from tokonoma.server.mcp import message
from tokonoma.store.database import ErrorReason, store_error

FOLDER = Path(__file__).with_name("reference")
SOURCE = Path(catalogue.__file__).parents[1]
MADE = "<!-- Made from the code by `make reference`. Do not edit. -->\n"

EFFECTS = {"read": "only reads", "write": "writes", "destroy": "can destroy data"}
WIRE = {
    "PARSE_ERROR": "not JSON in UTF-8",
    "INVALID_REQUEST": "JSON, but no message: wrong shape, too large, too deep, a batch array",
    "METHOD_NOT_FOUND": "no such method in this version of the protocol",
    "INVALID_PARAMS": "invalid parameters of the method; an unknown prompt, resource or cursor",
    "INTERNAL_ERROR": "an internal error; see the log of the server",
    "HEADER_MISMATCH": "2026-07-28 over HTTP: a header differs from the body",
    "MISSING_CAPABILITY": "2026-07-28: the client lacks a capability that the call needs",
    "UNSUPPORTED_VERSION": "2026-07-28: an unsupported protocol version; `data.supported` lists the supported ones",
    "RESOURCE_NOT_FOUND": "2025-11-25 and earlier: no such resource",
    "REQUEST_CANCELLED": "2025-11-25 and earlier, over HTTP: the client cancelled the call",
    "REFUSED": "refused before the call began",
    "LIMITED": "too many calls",
    "UNAUTHENTICATED": "no valid key",
}


def build_pages() -> dict[str, str]:
    """File name → text."""
    texts = {
        "tools.md": build_tools_page(),
        "services.md": build_services_page(),
        "settings.md": build_settings_page(),
        "errors.md": build_errors_page(),
        "cli.md": build_cli_page(),
    }
    return {name: MADE + text for name, text in texts.items()}


# tools.md


def build_tools_page() -> str:
    infos = {
        name: catalogue.describe_module(catalogue.load_module(source), source)
        for name, source in catalogue.BUILT_IN_MODULES.items()
    }
    parts = [
        "# Tools\n",
        "Every server lists the meta-tools. Use `call` and `batch` to run the tools of modules; `--direct` lists",
        "them too. The signatures are those that `get_module_schema` returns.\n",
    ]
    for name, info in infos.items():
        codes = catalogue.load_module(catalogue.BUILT_IN_MODULES[name]).codes
        parts += [f"## {'The meta-tools' if name == 'gateway' else name}\n", f"{info.summary}\n"]
        parts += [f"[Errors](errors.md): {', '.join(_format_codes(codes))}.\n"]
        # Its other tools are the methods of resources: no client calls them as tools.
        entries = [entry for entry in info.entries if name != "gateway" or entry.name in META_TOOLS]
        parts += [_format_tool(info, entry) for entry in entries]
    return "\n".join(parts)


def build_services_page() -> str:
    parts = [
        "# Tools of services\n",
        "A service is listed once an account of it is connected. Tools marked as extra are hidden unless the reach of",
        "a key names them. Every tool takes `account`; what it returns can be chosen with `fields`: paths instead of",
        "the default ones, `+path` for one more, `*` for everything. Lists take `limit` and `cursor`.\n",
    ]
    for source in catalogue.SERVICE_MODULES.values():
        info = catalogue.describe_module(catalogue.load_module(source), source)
        parts += [f"## {info.name}\n", f"{info.summary} {info.notes[0]}\n"]
        lines = importlib.import_module(source.partition(":")[0]).SERVICE.tools
        parts += [_format_service_tool(entry, line) for entry, line in zip(info.entries, lines, strict=True)]
    codes = catalogue.load_module(source).codes
    parts.insert(4, f"[Errors](errors.md): {', '.join(_format_codes(codes))}.\n")
    return "\n".join(parts)


def _format_service_tool(entry: ToolInfo, line: ServiceTool) -> str:
    """Shorter than others: what all tools of services take stands at the top of the page."""
    facts = ["extra"] if entry.extra else []
    facts += [EFFECTS[entry.effect]]
    facts += ["can be repeated safely"] if entry.idempotent and entry.effect != "read" else []
    own = {name: each for name, each in entry.input["properties"].items() if name not in COMMON}
    shown = entry.input["properties"].get("fields", {}).get("description", "")
    is_list = "has_more" in entry.output.get("properties", {})
    parts = [
        f"### {entry.path}\n",
        f"{entry.description} Listed as `{entry.listed}`; {'; '.join(facts)}. Sends `{line.call}`.\n",
        *_format_parameters({**entry.input, "properties": own}),
        f"Returns {'a list' if is_list else '`done`' if 'done' in entry.output.get('properties', {}) else 'a record'}"
        + (f"; fields by {_format_cell(shown)}.\n" if shown and entry.projects else ".\n"),
    ]
    return "\n".join(parts)


def _format_tool(info: ModuleInfo, entry: ToolInfo) -> str:
    gateway = info.name == "gateway"
    facts = [f"`{entry.listed}`", "reads" if entry.keeps_log else EFFECTS[entry.effect]]
    facts += ["keeps a log of what its caller read or found"] if entry.keeps_log else []
    facts += ["can be repeated safely"] if entry.idempotent and entry.effect != "read" else []
    facts += ["calls another service"] if entry.outside else []
    facts += [f"at most {entry.time_limit:g} s"] if entry.time_limit else []
    facts += ["also called " + ", ".join(f"`{each}`" for each in entry.aliases)] if entry.aliases else []
    parts = [
        f"### {entry.name if gateway else entry.path}\n",
        f"{entry.title}. Listed as {'; '.join(facts)}.\n",
        f"```text\n{entry.signature}\n```\n",
        *_format_parameters(entry.input),
        f"Returns: `{format_type(entry.output)}`\n",
    ]
    return "\n".join(parts)


def _format_parameters(schema: Mapping[str, Any]) -> list[str]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not properties:
        return ["No parameters.\n"]
    rows = ["| parameter | type | required | default | meaning |", "|---|---|---|---|---|"]
    for name, each in properties.items():
        default = f"`{_format_json(each['default'])}`" if "default" in each else ""
        needed = "yes" if name in schema.get("required", ()) else ""
        said = _format_cell(each.get("description", ""))
        rows.append(f"| `{name}` | `{_format_cell(format_type(each))}` | {needed} | {default} | {said} |")
    return ["\n".join(rows) + "\n"]


def _format_codes(codes: errors.ErrorCodes) -> list[str]:
    return [f"`{code}`" for code in dict.fromkeys({**errors.DEFAULT_CODES, **codes}.values())]


# settings.md


def build_settings_page() -> str:
    rows = ["| setting | variable | default | meaning |", "|---|---|---|---|"]
    for each in settings.SETTINGS:
        default = ", ".join(each.default) if isinstance(each.default, tuple) else each.default
        shown = "" if default == "" else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        secret = " Shown without credentials." if each.secret else ""
        rows.append(f"| `{each.name}` | `{each.variable}` | {shown} | {_format_cell(each.description)}.{secret} |")
    return f"""# Settings

A setting is taken from the first of these that has it: a flag of the command, `TOKONOMA_*` in the environment,
`tokonoma.toml` in the home, the default. `tokonoma config show --origin` shows which. The home itself is
`TOKONOMA_HOME`, or the platform's folder for user data. In the environment lists are separated by commas.
An unknown name is an error.

{chr(10).join(rows)}
"""


# errors.md


def build_errors_page() -> str:
    tree = re.findall(r"[├└]── (\w+)\s+(.+)", errors.__doc__ or "")
    rows = [f"| `{name.lower()}` | {said} | `{errors.DEFAULT_CODES[name.lower()]}` |" for name, said in tree]
    finer = [f"| `{key}` | `{code}` |" for key, code in errors.DEFAULT_CODES.items() if "." in key or key == "internal"]
    found = _find_reasons()
    reasons = [f"| `{word}` | {', '.join(f'`{each}`' for each in sorted(found[word]))} |" for word in found]
    wire = [f"| {code} | {_format_cell(WIRE[name])} |" for name, code in _list_wire_codes()]
    return f"""# Errors

A tool that fails returns `isError: true`, no structured content, and this text:

```json
{{"error": {{"code": "NOT_FOUND", "message": "…", "details": {{"reason": "tool"}}}},
 "request_id": "…", "trace_id": "…"}}
```

The server has nine kinds of errors. These are their default codes; a module can have its own codes.

| kind | meaning | code |
|---|---|---|
{chr(10).join(rows)}

Some reasons have their own code, and so do internal errors:

| kind and reason | code |
|---|---|
{chr(10).join(finer)}

`details.reason` is the reason, for programs:

| kind | reasons |
|---|---|
{chr(10).join(reasons)}

## Errors of the protocol

A message that does not become a call gets a JSON-RPC error. An HTTP request that is rejected before its body is read
also gets a status: 401 (key), 403 (Origin), 404, 405, 406, 408, 413 (too large), 415, 421 (Host), 429.

| code | meaning |
|---|---|
{chr(10).join(wire)}
"""


def _find_reasons() -> dict[str, set[str]]:
    """The reasons in the code, by the kind of error."""
    words = [each.__name__ for each in errors.Refusal.__subclasses__()]
    found: dict[str, set[str]] = {each.lower(): set() for each in words}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in words:
                given = [each.value for each in node.keywords if each.arg == "reason"]
                found[node.func.id.lower()] |= {str(each.value) for each in given if isinstance(each, ast.Constant)}
    for reason in get_args(ErrorReason):
        found[store_error(reason).kind].add(reason)
    found["unavailable"] |= {"cancelled", "timeout"}  # the reason that a CancelToken was given
    return {word: reasons for word, reasons in found.items() if reasons}


def _list_wire_codes() -> Iterator[tuple[str, int]]:
    for name, value in vars(message).items():
        if isinstance(value, int) and value < 0:
            yield name, value


# cli.md


def build_cli_page() -> str:
    parts = [
        "# Command line\n",
        "Values go to stdout, notes to stderr. The exit code is 0, 1 for an error, 2 for a mistake in the command, or",
        "130 after Ctrl-C.",
        "`tokonoma COMMAND --help` prints the same as this page.\n",
        "Every [setting](settings.md) is a flag of every command, before or after its name: `database_url` is",
        "`--database-url`. `--home` is the folder with all data.\n",
    ]
    for path, command in _walk_commands():
        parts += [f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}\n", *_format_command(path, command)]
    return "\n".join(parts)


def _walk_commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its path, the program itself first."""
    waiting: list[tuple[tuple[str, ...], click.Command]] = [(("tokonoma",), program)]
    while waiting:
        path, command = waiting.pop(0)
        yield path, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            inner = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
            waiting[:0] = [((*path, name), each) for name, each in inner if each is not None and not each.hidden]


def _format_command(path: tuple[str, ...], command: click.Command) -> list[str]:
    context = click.Context(command, info_name=" ".join(path))
    parts = [f"```text\n{' '.join((' '.join(path), *command.collect_usage_pieces(context)))}\n```\n"]
    if command.help:
        parts.append(inspect.cleandoc(command.help) + "\n")
    shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    options = [each for each in shown if each.expose_value or each.is_eager]
    if options:
        rows = [
            f"| {_format_flags(each)} | {_format_default(each)} | {_format_cell(each.help or '')} |" for each in options
        ]
        parts.append("\n".join(["| option | default | meaning |", "|---|---|---|", *rows]) + "\n")
    flags = [f"`{each.opts[0]}`" for each in shown if each not in options and each.name != "home"]
    if flags:
        parts.append(f"Settings used here: {', '.join(flags)}.\n")
    return parts


def _format_flags(option: click.Option) -> str:
    flags = ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
    return flags if option.is_flag or option.count else f"{flags} `{option.metavar or option.type.name.upper()}`"


def _format_default(option: click.Option) -> str:
    plain = isinstance(option.default, str | int | float) and not isinstance(option.default, bool)
    return f"`{option.default}`" if plain else ""


def _format_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in build_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
