"""Globs over paths, as one pattern of RE2: whatever a caller writes, matching takes time in the length of the path."""

import re
from collections.abc import Callable
from typing import Any, cast

import re2

from tokonoma.core.errors import Invalid
from tokonoma.core.paths import name_key

_MAX_GLOB = 500


def compile_glob(glob: str | None) -> Callable[[str], bool]:
    """`*` within a folder, `**` over folders, `?`, `[abc]`, `{a,b}`, a leading `!` for all but these. Case is ignored;
    a glob without a slash is about the name alone."""
    if not glob:
        return lambda path: True
    if len(glob) > _MAX_GLOB:
        raise Invalid(f"glob has more than {_MAX_GLOB} characters.", field="glob", limit=_MAX_GLOB)
    inverse, wanted = glob.startswith("!"), name_key(glob.removeprefix("!").replace("\\", "/").removeprefix("./"))
    pattern = compile_pattern(_translate_glob(wanted), "glob")
    named = "/" not in wanted

    def matches(path: str) -> bool:
        told = name_key(path)
        return (pattern.fullmatch(told.rsplit("/", 1)[-1] if named else told) is not None) != inverse

    return matches


def compile_pattern(pattern: str, field: str, *, ignore_case: bool = False) -> Any:
    """A pattern of RE2, whose matching never takes more than linear time; Invalid says what is wrong with it."""
    options = cast("Any", re2).Options()
    options.log_errors = False
    options.max_mem = 8 * 2**20
    options.case_sensitive = not ignore_case
    try:
        return cast("Any", re2).compile(pattern, options)
    except cast("Any", re2).error as error:
        told = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        raise Invalid(f"{field} is not a pattern that RE2 takes: {told}.", field=field) from None


def _translate_glob(glob: str) -> str:
    parts: list[str] = []
    place = depth = 0
    while place < len(glob):
        rest, letter = glob[place:], glob[place]
        if rest.startswith("**/"):
            parts.append("(?:.*/)?")
            place += 3
            continue
        if rest.startswith("**"):
            parts.append(".*")
            place += 2
            continue
        if letter == "[" and (found := re.match(r"\[(!?)([^\]/]+)\]", rest)):
            inner = found[2].replace("\\", "\\\\").replace("^", "\\^").replace("[", "\\[")
            parts.append(f"[{'^' if found[1] else ''}{inner}]")
            place += found.end()
            continue
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
        parts.append(_translate_character(letter, depth))
        place += 1
    if depth:
        raise Invalid("glob has a brace that is not closed, like {md,json}.", field="glob")
    return "".join(parts)


def _translate_character(letter: str, depth: int) -> str:
    known = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}
    if letter in known:
        if letter == "}" and depth < 0:
            raise Invalid("glob closes a brace that was not opened.", field="glob")
        return known[letter]
    return "|" if letter == "," and depth else re.escape(letter)
