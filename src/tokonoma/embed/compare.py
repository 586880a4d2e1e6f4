"""How near texts are in meaning, by the vectors of one model."""

from collections.abc import Sequence

from tokonoma.embed.embedder import Embedder
from tokonoma.embed.queries import QUERY_TIMEOUT


def compare_texts(embedder: Embedder, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]]:
    """Each text with each of its others, up to 1. Every text is embedded once, in batches."""
    import numpy as np

    texts = list(dict.fromkeys(each for text, others in pairs for each in (text, *others)))
    if not texts:
        return [[] for _ in pairs]
    step = embedder.batch_size
    batches = [
        embedder.embed([text[: embedder.chunk_length] for text in texts[at : at + step]], "document", QUERY_TIMEOUT)
        for at in range(0, len(texts), step)
    ]
    vectors, places = np.concatenate(batches), {text: place for place, text in enumerate(texts)}
    return [
        (vectors[[places[other] for other in others]] @ vectors[places[text]]).tolist() if others else []
        for text, others in pairs
    ]
