"""A question that names a time wants what happened then: such records are proposed, and count for more than others."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from tokonoma.core.query import Query
from tokonoma.search.candidates import CandidatePool, SearchCandidate

if TYPE_CHECKING:
    from tokonoma.search.dates import DateSpan

_LATEST = 3  # of a month without a year: the next one, and the last two
_MOST = 200  # documents of a time that are looked at whatever they say


class DateBoost:
    """The time that a question names, if it does and is to be looked for."""

    def __init__(self, pool: CandidatePool, query: Query, now: int) -> None:
        self._pool = pool
        self._spans: list[DateSpan] = []
        if query.boost_dates:
            # Not with the others: to read its patterns takes longer than many a search.
            from tokonoma.search.dates import find_spans

            self._spans = find_spans(query.text, now)

    def propose(self) -> list[int]:
        """Documents of that time, if it is so short that they can all be looked at."""
        if not self._spans:
            return []
        from tokonoma.search.dates import select_short

        found = [self._pool.find_between(*span, _MOST) for span in select_short(self._spans, _LATEST)]
        return [number for numbers in found for number in numbers]

    def compute_factors(self, candidates: Mapping[int, SearchCandidate], chosen: Collection[int]) -> dict[int, float]:
        """What is left of their scores; nobody is named if there is no such time."""
        if not self._spans:
            return {}
        from tokonoma.search.dates import compute_factor, compute_fit, parse_moment

        times: dict[int, list[int]] = {number: [] for number in chosen}
        for number, text, value in self._pool.fetch_dates(chosen):
            at = parse_moment(text, value)
            if at is not None:
                times[number].append(at)
        return {
            number: compute_factor(max(compute_fit(at, self._spans) for at in told or [candidates[number].at]))
            for number, told in times.items()
        }
