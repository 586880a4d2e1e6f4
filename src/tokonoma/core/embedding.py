"""Embedding models as the search index stores them and the embedding worker reads them."""

from dataclasses import dataclass


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
