"""`masks`: what exactly a key, a client or a person sees, and by which rule a tool is hidden."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.masks import find_principal, try_tool_as
from tokonoma.auth.reaches import to_response
from tokonoma.catalogue.explain import AccessVerdict, list_usable_accounts
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table
from tokonoma.core.call import Principal
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.printable import pluralize
from tokonoma.core.reach import Reach

_HEADINGS = ("MODULE", "TOOL", "EFFECT", "ACCOUNTS")


@group("masks")
def masks() -> None:
    """Show what a credential sees, and try whether it may use a tool.

    A CREDENTIAL is `key:NAME`, `client:NAME`, `person:NAME`, `owner`, or a name alone if only one has it. The policy,
    which decides about records, is not asked.
    """


@masks.command("show", settings=("database_url",))
@click.argument("credential")
@json_option
@pass_app
def show(app: App, credential: str, as_json: bool) -> None:
    """Show what a CREDENTIAL sees: namespaces, modules, tools with their effects, accounts and extra tools."""
    principal = find_principal(app, credential)
    modules = app.registry.visible_modules(principal)
    if as_json:
        seen = [_describe_module(info, principal.reach) for info in modules]
        print_json({"credential": principal.name, "kind": principal.kind, **_describe_reach(principal), "seen": seen})
        return
    rows = [_format_tool(info, tool, principal.reach) for info in modules for tool in info.entries]
    width = 4 if any(info.accounts is not None for info in modules) else 3  # only services have accounts
    if rows:
        print_table(_HEADINGS[:width], [row[:width] for row in rows])
    reach = principal.reach
    print_note(f"{principal.name}: {pluralize(len(rows), 'tool')} in {pluralize(len(modules), 'module')}.")
    print_note(f"Namespaces: {reach.root} and below, beginning in {reach.default}.")
    print_note(f"Mask: {','.join(sorted(reach.mask)) or '-'}. Extra tools: {','.join(sorted(reach.extras)) or '-'}.")


@masks.command("try", settings=("database_url",))
@click.argument("credential")
@click.argument("tool", metavar="MODULE.TOOL")
@click.option("--account", help="With this account of a service.")
@click.option("--namespace", help="In this namespace, written as the owner sees it.")
@json_option
@pass_app
def try_tool(
    app: App, credential: str, tool: str, account: str | None, namespace: str | None, as_json: bool
) -> None:  # fmt: skip
    """Say whether a CREDENTIAL may use MODULE.TOOL, and by which rule it may not. The exit code is 1 if it may not."""
    principal = find_principal(app, credential)
    entry, verdict = try_tool_as(app, principal, tool, account, namespace)
    if as_json:
        facts = {"allowed": verdict.allowed, "rule": verdict.rule or None, "value": verdict.value or None}
        print_json({"credential": principal.name, "tool": entry.path, **facts, "message": verdict.message})
    else:
        print_line(_format_verdict(verdict))
    sys.exit(0 if verdict.allowed else 1)


def _describe_reach(principal: Principal) -> dict[str, Any]:
    reach = principal.reach
    served = {"accounts_from": reach.accounts_from} if reach.accounts_from else {}
    return {**to_response(reach), "extras": sorted(reach.extras), **served}


def _describe_module(info: ModuleInfo, reach: Reach) -> dict[str, Any]:
    tools = [_describe_tool(info, tool, reach) for tool in info.entries]
    accounts = {} if info.accounts is None else {"accounts": list_usable_accounts(info, reach, info.entries)}
    return {"name": info.name, **accounts, "tools": tools}


def _describe_tool(info: ModuleInfo, tool: ToolInfo, reach: Reach) -> dict[str, Any]:
    accounts = {} if info.accounts is None else {"accounts": list_usable_accounts(info, reach, [tool])}
    return {"name": tool.name, "effect": tool.effect, "extra": tool.extra, **accounts}


def _format_tool(info: ModuleInfo, tool: ToolInfo, reach: Reach) -> Sequence[str]:
    effect = f"{tool.effect} (extra)" if tool.extra else tool.effect
    return info.name, tool.name, effect, ",".join(list_usable_accounts(info, reach, [tool])) or "-"


def _format_verdict(verdict: AccessVerdict) -> str:
    if verdict.allowed:
        return f"allowed: {verdict.message}"
    return f"hidden by {verdict.rule} {verdict.value or '(none)'}: {verdict.message}"
