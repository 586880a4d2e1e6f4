"""Markdown files: the front matter at their start, and names for them that every system accepts. Pure.

Front matter is YAML between two lines of `---`. It may come from anywhere: anchors, aliases and tags are refused, depth
and size are limited, and the result has only the types of JSON. A date stays text.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import yaml

from tokonoma.transfer.model import SourceError

MAX_CHARS = 1024 * 1024  # of front matter
MAX_OWN_CHARS = 16 * 1024 * 1024  # of front matter of an own export
_MAX_DEPTH = 32
_MAX_NAME_BYTES = 96  # in UTF-8, before an id and `.md` are added; systems accept 255
_START = re.compile(r"^---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_WIDE = re.compile(r"\\U000[1-9A-F]")

# Not allowed in a name on Windows or macOS, or in a wiki link.
_BAD = re.compile(r'[<>:"/\\|?*#^\[\]%\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufffe\uffff]+')
_SPACES = re.compile(r"\s+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)
_HEADING = re.compile(r"\s*+(?:#{1,6}\s++|[-*>+]\s++|\d++[.)]\s++)?(.*\S)")

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class FrontMatterError(SourceError):
    """The front matter cannot be read; the message says why."""


class _FrontMatterLoader(_LOADER):
    """Text is a number, a boolean or null only as in JSON: `yes`, `1:30` and `2026-01-31` stay text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - how PyYAML wants it


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|false|False)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?$", "-+0123456789"),
):
    _FrontMatterLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def _ignore_aliases(_dumper: Any, _data: Any) -> bool:
    return True


# The second one is slower, but writes 𠮟 and emoji as themselves; libyaml writes escapes.
_FastDumper, _WideDumper = (
    type("_WithoutAliases", (base,), {"ignore_aliases": _ignore_aliases}) for base in (_DUMPER, yaml.SafeDumper)
)


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return the YAML of the front matter, or None if there is none, and the text after it."""
    start = _START.match(text)
    end = _END.search(text, start.end()) if start else None
    if start is None or end is None:
        return None, text
    return text[start.end() : end.start()], text[end.end() :]


def read_front_matter(text: str) -> tuple[dict[str, Any] | None, str]:
    """Return the fields of an own file, or None if it has no front matter, and the text after them."""
    if text.startswith("---\r\n"):  # an own file never has CRLF: git or an editor changed every line
        text = text.replace("\r\n", "\n")
    block, body = split_front_matter(text)
    return (None if block is None else parse_front_matter(block)), body


def parse_front_matter(block: str) -> dict[str, Any]:
    limit = MAX_OWN_CHARS if block.startswith("tokonoma:") else MAX_CHARS
    if len(block) > limit:
        raise FrontMatterError(f"It has more than {limit} characters.")
    try:
        _check_events(block)
        value: Any = yaml.load(block, Loader=_FrontMatterLoader)  # noqa: S506 - a loader safer than the safe one
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "it is not YAML"
        place = f"Line {mark.line + 2}" if mark is not None else "It is not YAML"
        raise FrontMatterError(f"{place}: {problem}.") from None
    except ValueError as error:  # a number with thousands of digits
        raise FrontMatterError(str(error)) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FrontMatterError("It is not a list of keys and values.")
    return cast("dict[str, Any]", _to_json_value(value))


def format_front_matter(fields: dict[str, Any]) -> str:
    """Return the YAML between its two lines; `split_front_matter` and `parse_front_matter` read it again."""
    text = _dump_yaml(fields, _FastDumper)
    if _WIDE.search(text):
        wide = _dump_yaml(fields, _WideDumper)
        # The emitter of PyYAML loses a few control characters (NEL), so its output is read before it is used.
        with suppress(FrontMatterError):
            text = wide if parse_front_matter(wide) == fields else text
    return f"---\n{text}---\n"


def _dump_yaml(fields: dict[str, Any], dumper: Any) -> str:
    return yaml.dump(fields, Dumper=dumper, sort_keys=False, allow_unicode=True, width=2**31 - 1)


def _check_events(block: str) -> None:
    """Refuse what is not allowed before anything is built from it."""
    depth, events = 0, cast("Iterator[Any]", yaml.parse(block, Loader=_LOADER))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if getattr(event, "anchor", None):  # of an alias, too: the name that it refers to
            raise FrontMatterError(f"Line {event.start_mark.line + 2}: anchors and aliases are not allowed.")
        if getattr(event, "tag", None):
            raise FrontMatterError(f"Line {event.start_mark.line + 2}: tags such as {event.tag!r} are not allowed.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise FrontMatterError(f"It is nested more than {_MAX_DEPTH} levels deep.")


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            _to_json_value(_to_key(key)): _to_json_value(each) for key, each in cast("dict[Any, Any]", value).items()
        }
    if isinstance(value, list):
        return [_to_json_value(each) for each in cast("list[Any]", value)]
    if isinstance(value, str) and not value.isprintable() and any("\ud800" <= each <= "\udfff" for each in value):
        raise FrontMatterError("It contains half of a surrogate pair.")
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


def _to_key(key: Any) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    return "" if key is None else str(key)


def make_safe_name(name: str) -> str:
    """The name, without what a file name cannot contain; never empty."""
    safe = _SPACES.sub(" ", _BAD.sub(" ", unicodedata.normalize("NFC", name))).strip(" ").rstrip(". ")
    if safe.startswith(".") or _RESERVED.fullmatch(safe):
        safe = "_" + safe  # an import skips hidden files
    cut = safe.encode()[:_MAX_NAME_BYTES].decode(errors="ignore")
    while cut != safe and cut and unicodedata.combining(safe[len(cut)]):  # keep combining marks with their letter
        cut = cut[:-1]
    return cut.rstrip(". ") or "_"


def namespace_to_folder(namespace: str) -> str:
    """`/notes/今日` → `notes/今日`. For people only: the namespace that counts is in the front matter."""
    return "/".join(_safe_folder(part) for part in namespace.split("/") if part)


def choose_title(title: str, content: str) -> str:
    """The title of a memo, or its first line of text."""
    if title.strip():
        return title
    for line in content[:4000].splitlines():
        found = _HEADING.match(line)
        if found and found[1].strip("-=*_`~ "):
            return found[1][:80]
    return ""


class UniquePaths:
    """Returns paths that differ on every system, also without case and in another normal form."""

    def __init__(self) -> None:
        self._taken: set[bytes] = set()  # digests, because there may be a million long names

    def claim_path(self, namespace: str, title: str, memo_id: str) -> str:
        folder, name = namespace_to_folder(namespace), make_safe_name(title)
        for candidate in (name, f"{name} {memo_id[-8:]}", f"{name} {memo_id}"):
            path = f"{folder}/{candidate}.md" if folder else f"{candidate}.md"
            digest = hashlib.blake2b(fold_path(path).encode(), digest_size=12).digest()
            if digest not in self._taken:
                self._taken.add(digest)
                return path
        raise AssertionError("the id of a memo is unique")


def fold_path(path: str) -> str:
    """Two paths with the same folded form are the same file on some system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())


def _safe_folder(part: str) -> str:
    name = make_safe_name(part)
    # A folder `x.md` would take the name of the file of a memo `x`.
    name += "_" if name.casefold().endswith((".md", ".markdown")) else ""
    return name if fold_path(name) == fold_path(part) else f"{name}~{hashlib.sha256(part.encode()).hexdigest()[:4]}"
