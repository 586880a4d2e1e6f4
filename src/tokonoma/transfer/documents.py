"""JSON documents that are read whole."""

from pathlib import Path
from typing import Any, cast

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import Metadata
from tokonoma.transfer.decode import DecodingError, decode_text
from tokonoma.transfer.walk import MAX_DOCUMENT_BYTES, UnreadableFile, read_file_bytes


def load_document(path: Path) -> Any:
    """The value that the file holds; Invalid says why there is none."""
    try:
        text, _ = decode_text(read_file_bytes(path, MAX_DOCUMENT_BYTES, link=True)[0])
        return orjson.loads(text)
    except (UnreadableFile, DecodingError) as error:
        raise Invalid(f"{path}: {error}") from None
    except orjson.JSONDecodeError as error:
        said = error.msg.partition(": line")[0]
        raise Invalid(f"{path} is not JSON (line {error.lineno}, column {error.colno}: {said}).") from None


def drop_fields(raw: Metadata, *taken: str) -> Metadata:
    """What is left of an object beside the fields that were understood; what is null says nothing."""
    return {key: value for key, value in raw.items() if key not in taken and value is not None}


def as_text(value: Any) -> str:
    """A text, or what a number would be as one; empty for everything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def as_object(value: Any) -> Metadata:
    """A JSON object; an empty one for everything else."""
    return cast("Metadata", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A JSON list; an empty one for everything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []
