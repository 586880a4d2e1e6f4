"""Which of a question's terms propose candidates. Pure."""

from collections.abc import Iterable

SHARE = 0.10  # of the index: so many postings are read before anything is scored
LEAST = 2000


def plan_terms(frequencies: Iterable[tuple[str, int]], documents: int) -> list[str]:
    """The rarest terms, until their postings reach a tenth of the index; at least one term that occurs at all.

    `frequencies`: each term with the number of documents that hold it."""
    room = max(LEAST, SHARE * documents)
    planned: list[str] = []
    read = 0
    for frequency, term in sorted((frequency, term) for term, frequency in frequencies if frequency > 0):
        if planned and read + frequency > room:
            break
        planned.append(term)
        read += frequency
    return planned
