"""A server is put into a client's JSON file, and nothing else in that file is lost."""

import contextlib
import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tokonoma.core.errors import Invalid

Json = dict[str, Any]

# A string, a comment, or a comma before a closing bracket: what an editor's JSON has and JSON has not.
_JSON_EXTRAS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def parse_config(text: str, file: Path) -> Json:
    """The object that the file holds. Refused: no JSON, JSON with comments, and keys that stand twice."""
    if not text.strip():
        return {}
    try:
        found: Any = json.loads(text, object_pairs_hook=_reject_duplicates)
    except json.JSONDecodeError as error:
        if _has_comments(text):
            raise Invalid(
                f"{file} has comments or trailing commas (line {error.lineno}), which writing it anew would lose.",
                reason="comments",
            ) from None
        place = f"line {error.lineno}, column {error.colno}"
        raise Invalid(f"{file} is not JSON ({place}: {error.msg}). Mend it first.", reason="not_json") from None
    except _DuplicateKey as error:
        raise Invalid(f"{file} names {error} twice in one object. Mend it first.", reason="not_json") from None
    if not isinstance(found, dict):
        raise Invalid(f"{file} holds no JSON object. Mend it first.", reason="not_json")
    return cast("Json", found)


def add_server(whole: Json, section: str, name: str, entry: Json, inputs: Sequence[Json], file: Path) -> Json:
    """The object with this server in its section; everything else as it was."""
    servers: Any = whole.get(section, {})
    if not isinstance(servers, Mapping):
        raise Invalid(f"{file}: {section!r} is not an object. Mend it first.", reason="not_json")
    told: Json = {**whole, section: {**servers, name: entry}}
    if inputs:
        kept: Any = whole.get("inputs", [])
        if not isinstance(kept, list):
            raise Invalid(f"{file}: 'inputs' is not a list. Mend it first.", reason="not_json")
        ids: set[str] = {each["id"] for each in inputs}
        others = [each for each in cast("list[Any]", kept) if not _has_id(each, ids)]
        told["inputs"] = [*others, *inputs]
    return told


def format_config(whole: Json, like: str) -> str:
    """As text, indented as the file was before."""
    indent = re.search(r"\n([ \t]+)\"", like)
    text = json.dumps(whole, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, written as an escape: it can only stay one
        text = json.dumps(whole, indent=indent[1] if indent else 2) + "\n"
    return text


def replace_file(file: Path, text: str) -> Path | None:
    """Write the file, all or nothing; what it held stays beside it under `.bak`, whose path is returned."""
    file = file.resolve()  # a link into somebody's dotfiles stays a link
    file.parent.mkdir(parents=True, exist_ok=True)
    mode, kept = 0o600, None
    if file.exists():
        mode = file.stat().st_mode & 0o777
        kept = file.with_name(file.name + ".bak")
        _write_atomic(kept, file.read_bytes(), mode)
    _write_atomic(file, text.encode(), mode)
    return kept


def _write_atomic(file: Path, content: bytes, mode: int) -> None:
    # Made for its owner alone, then opened as far as the original was: these files hold other servers' secrets.
    made = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        made.chmod(mode)
        made.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            made.unlink()
        raise


def _has_id(asked: Any, ids: set[str]) -> bool:
    return isinstance(asked, dict) and cast("Json", asked).get("id") in ids


class _DuplicateKey(Exception):
    """A key that stands twice in one object: reading it would lose the first."""


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _DuplicateKey(next(repr(name) for name in names if names.count(name) > 1))
    return found


def _has_comments(text: str) -> bool:
    plain = _JSON_EXTRAS.sub(lambda found: found[1] or "", text)
    # A comma may stand before a comment that stands before a bracket: the first round uncovers it.
    plain = _JSON_EXTRAS.sub(lambda found: found[1] or "", plain)
    try:
        json.loads(plain)
    except json.JSONDecodeError:
        return False
    return True
