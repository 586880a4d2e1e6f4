"""Searching files line by line: which files (globs), which lines (plain, loose, RE2), and how a long line is shown."""

import re
from collections.abc import Callable
from typing import Any, Literal, cast

import re2

from tokonoma.core.errors import Invalid
from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.core.paths import name_key

_MAX_GLOB = 500  # characters
_MAX_LINE_CHARS = 240  # of a found line
_GLOB_TOKEN = re.compile(r"\*\*/|\*\*|\[(!?)([^\]/]+)\]|.", re.DOTALL)
_GLOB_PATTERNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}

SearchMode = Literal["plain", "regex", "loose"]
LineMatcher = Callable[[str], int]
"""From a line to the position of the text in it; -1 if it is not there."""


def compile_glob(glob: str | None) -> Callable[[str], bool]:
    """Compile `*` within a folder, `**` over folders, `?`, `[abc]`, `{a,b}`, and a leading `!` for all but these. Case
    is ignored; a glob without a slash matches the name only."""
    if not glob:
        return lambda path: True
    if len(glob) > _MAX_GLOB:
        raise Invalid(f"glob has more than {_MAX_GLOB} characters.", field="glob", limit=_MAX_GLOB)
    inverse, wanted = glob.startswith("!"), name_key(glob.removeprefix("!").replace("\\", "/").removeprefix("./"))
    pattern = compile_pattern(_translate_glob(wanted), "glob")
    name_only = "/" not in wanted

    def matches(path: str) -> bool:
        key = name_key(path)
        return (pattern.fullmatch(key.rsplit("/", 1)[-1] if name_only else key) is not None) != inverse

    return matches


def compile_pattern(pattern: str, field: str) -> Any:
    """Compile with RE2, which matches in linear time; Invalid says what is wrong with the pattern."""
    options = cast("Any", re2).Options()
    options.log_errors = False
    options.max_mem = 8 * 2**20
    try:
        return cast("Any", re2).compile(pattern, options)
    except cast("Any", re2).error as error:
        problem = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        raise Invalid(f"{field} is not a valid RE2 pattern: {problem}.", field=field) from None


def _translate_glob(glob: str) -> str:
    parts: list[str] = []
    depth = 0
    for token in _GLOB_TOKEN.finditer(glob):
        text = token[0]
        depth += (text == "{") - (text == "}")
        if depth < 0:
            raise Invalid("glob has a closing brace without an opening one.", field="glob")
        if token[2]:
            inner = token[2].replace("\\", "\\\\").replace("^", "\\^").replace("[", "\\[")
            parts.append(f"[{'^' if token[1] else ''}{inner}]")
        elif text == "," and depth:
            parts.append("|")
        else:
            parts.append(_GLOB_PATTERNS.get(text) or re.escape(text))
    if depth:
        raise Invalid("glob has an opening brace without a closing one. Write it like {md,json}.", field="glob")
    return "".join(parts)


def build_line_matcher(query: str, mode: SearchMode) -> LineMatcher:
    if mode == "regex":
        pattern = compile_pattern(query, "query")
        return lambda line: match.start() if (match := pattern.search(line)) else -1
    change = normalize if mode == "plain" else normalize_loose
    text = change(query)
    if not text.strip():
        raise Invalid("The query is empty after normalization. Use mode plain or regex.", field="query")
    return lambda line: change(line).find(text)


def shorten_line(text: str, position: int) -> tuple[str, bool]:
    """A line, or the part of a long one around a position; and whether it is only a part."""
    start = max(0, min(position - _MAX_LINE_CHARS // 4, len(text) - _MAX_LINE_CHARS))
    return text[start : start + _MAX_LINE_CHARS], len(text) > _MAX_LINE_CHARS
