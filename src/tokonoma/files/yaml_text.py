"""YAML files of the owner, read so that no text can take long or exhaust the stack: what is wrong becomes a problem."""

from collections.abc import Mapping
from typing import Any, cast

import yaml

MAX_DEPTH = 16
_MAX_PLAIN = 1000  # characters of a value without quotes: YAML tries to read it as a number or a date
_YAML: Any = yaml  # its stubs leave most of it unknown
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_mapping(raw: bytes, max_bytes: int) -> tuple[Mapping[str, Any], str]:
    """The mapping, or an empty one and the problem."""
    if len(raw) > max_bytes:
        return {}, f"larger than {max_bytes} bytes"
    try:
        text = raw.decode()
        problem = _find_problem(text)
        value = None if problem else _YAML.load(text, Loader=_LOADER)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        return {}, f"not YAML at line {mark.line + 1}" if mark is not None else "not YAML in UTF-8"
    except (ValueError, OverflowError) as error:  # a number or a date that Python cannot hold
        return {}, f"a value is not valid: {str(error)[:100]}"
    if problem or value is None:
        return {}, problem
    return (cast("Mapping[str, Any]", value), "") if isinstance(value, dict) else ({}, "its top is not a mapping")


def _find_problem(text: str) -> str:
    """Before anything is built: nine aliases can stand for a billion values, and nesting can exhaust the stack."""
    depth = 0
    for event in _YAML.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1
        if depth > MAX_DEPTH:
            return f"nested deeper than {MAX_DEPTH} levels at line {line}"
        if isinstance(event, yaml.AliasEvent):
            return f"an alias at line {line}; aliases are not allowed"
        if isinstance(event, yaml.ScalarEvent) and not event.style and len(event.value) > _MAX_PLAIN:
            return f"a value of more than {_MAX_PLAIN} characters at line {line}; put it in quotes"
    return ""
