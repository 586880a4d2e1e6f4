"""Embedding models and vectors, as the search index stores them and the embedding worker makes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model whose vectors are, or will be, stored. New vectors are of the model that is `current`."""

    id: int
    name: str
    dimension: int
    config: str  # a ModelConfig as JSON
    anchor: bytes  # the probe's vector, which tells one model from another of the same name
    current: bool
    backfilled_to: int | None  # documents up to this one were put into the queue; None: all were
    sealed: int  # on SQLite: the change up to which stored codes are complete
    scale: str = ""  # how its cosines are read, as JSON; empty: not measured


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """The vectors of a document, one for each of its pieces, and the texts of these."""

    id: int
    vectors: Any  # an array of numpy's, one row for each piece
    texts: Sequence[str]
    titled: bool = False  # the first is the title by itself
    subwords: Sequence[bytes] | None = None  # the parts of words in each text, if the model knows them
