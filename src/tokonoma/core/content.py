"""Content beside a tool's JSON value: images and documents, without a word of MCP."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ImageContent:
    data: bytes
    media_type: str  # like image/png


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """A document that travels with the answer. `data` is text, or bytes for anything else."""

    uri: str
    data: str | bytes
    media_type: str = "text/plain"


ContentBlock = ImageContent | ResourceContent


@dataclass(frozen=True, slots=True)
class RichResult(Generic[T]):
    """A tool annotated `-> RichResult[X]` answers with an X, and with these blocks behind it."""

    value: T
    blocks: Sequence[ContentBlock]
