"""The options that say what a credential may use: the same for keys, people, clients and profiles."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from tokonoma.app.reaches import check_credential_name
from tokonoma.cli.output import print_table
from tokonoma.core.errors import Invalid

C = TypeVar("C", bound=Callable[..., Any])

REACH_FIELDS = ("root", "default", "modules", "mask")

_NEW = {
    "--root": "Namespace that it cannot leave. Default: /",
    "--default": "Namespace in which it starts. Default: its root.",
    "--modules": "Modules that it can use, separated by commas. Default: all.",
    "--mask": "What is hidden from it, as in `items,memory.delete,vault:write,*:destroy`.",
    "--extras": "Tools that are hidden otherwise, as in `github.merge_pr,jira.*`.",
    "--profile": "Begin with the profile of this name; the other options change that.",
}
_CHANGED = {
    "--root": "Namespace that it cannot leave.",
    "--default": "Namespace in which it starts.",
    "--modules": "Modules that it can use, separated by commas, or `all`.",
    "--mask": "What is hidden from it, separated by commas; empty for nothing.",
    "--extras": "Tools that are hidden otherwise, separated by commas; empty for none.",
    "--profile": "Begin with the profile of this name, not with what it has; the other options change that.",
}


def new_reach_options(function: C) -> C:
    """Options of a command that creates something with a reach. They arrive as keywords for `parse_reach`."""
    return _add_options(function, _NEW)


def changed_reach_options(function: C) -> C:
    """Options of a command that changes the reach of something."""
    return _add_options(function, _CHANGED)


def _add_options(function: C, described: Mapping[str, str]) -> C:
    for flag, text in reversed(list(described.items())):
        name = "start" if flag == "--default" else flag.removeprefix("--")
        metavar = "NAME" if flag == "--profile" else None
        function = click.option(flag, name, metavar=metavar, help=text)(function)
    return function


def check_name(name: str) -> None:
    """BadParameter for a name that lists and journals could not show well."""
    try:
        check_credential_name(name)
    except Invalid as error:
        raise click.BadParameter(error.message, param_hint="NAME") from None


def print_reaches(responses: Sequence[Mapping[str, Any]], before: Sequence[str], after: Sequence[str] = ()) -> None:
    """Print a table of what has a reach. Few have extras: the column is there if one does."""
    extras = ["extras"] if any("extras" in each for each in responses) else []
    names = [*before, *REACH_FIELDS, *extras, *after]
    headings = [name.removesuffix("_at").upper() for name in names]
    print_table(headings, [[format_cell(each.get(name, [])) for name in names] for each in responses])


def format_cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "-"  # pyright: ignore[reportUnknownArgumentType]
    return "never" if value is None else str(value)
