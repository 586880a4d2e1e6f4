"""Names of servers and of their tools, as modules and tools here are called. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from tokonoma.core.errors import Conflict, Invalid

MAX_TOOL_NAME = 64

_SERVER = re.compile(r"[a-z][a-z0-9_]{0,31}")
_OTHER = re.compile(r"[^a-z0-9_-]+")
_REPEATED = re.compile(r"__++")


def fold_name(name: str) -> str:
    """`[a-z0-9_-]`, at most 64: small letters, and an underscore for each run of anything else. Empty if nothing is
    left."""
    plain = unicodedata.normalize("NFKC", name[:400]).lower()
    folded = _REPEATED.sub("_", _OTHER.sub("_", plain))
    return folded.strip("_-")[:MAX_TOOL_NAME].rstrip("_-")


def fold_server_name(name: str) -> str:
    """The name of a module for a server that is called something like this elsewhere; empty if there is none."""
    folded = fold_name(name).replace("-", "_")[:32].strip("_")
    return folded if _SERVER.fullmatch(folded) else ""


def check_server_name(name: str, taken: Mapping[str, str]) -> str:
    """The name, if a module can have it. `taken` says of each other name who has it."""
    if not _SERVER.fullmatch(name):
        advice = fold_server_name(name)
        hint = f" Use {advice!r}." if advice else ""
        message = "The name of a server begins with a small letter, and has at most 32 small letters, digits and `_`."
        raise Invalid(message + hint, field="name")
    if name in taken:
        raise Conflict(f"{name!r} is the name of {taken[name]}. Choose another.", reason="exists")
    return name


def fold_tool_names(server: str, names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Name at the server → name here. `taken`: the names under which tools of other modules are listed. Conflict if two
    tools would have one name, Invalid if one would have none."""
    found: dict[str, str] = {}
    shorts: dict[str, str] = {}
    others = set(taken)
    for name in names:
        short = fold_name(name)
        if not short:
            raise Invalid(
                f"The server has a tool called {name[:80]!r}, of which no name can be made here.", field="tool"
            )
        if short in shorts:
            message = f"The tools {shorts[short][:80]!r} and {name[:80]!r} would both be called {short!r} here."
            raise Conflict(f"{message} Such a server cannot be used.", reason="name")
        listed = f"{server}_{short}"
        if listed in others:
            message = f"The tool {short!r} would be listed as {listed!r}, which is another tool here."
            raise Conflict(f"{message} Give the server another name.", reason="name")
        found[name], shorts[short] = short, name
    return found
