"""How well a record's own time fits the times that a query names (see `tokonoma.search.times`).

Records of these times are proposed and raised a little, and the score of others falls, but never to nothing: a query
asks for more than its time, and people speak of things before and after they happen.
"""

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tokonoma.core.clock import parse_time
from tokonoma.search.candidates import CandidatePool, SearchCandidate
from tokonoma.search.times import OPEN_END, DateSpan, NamedTimes
from tokonoma.search.tuning import TUNING

_DAY = 86_400_000
_ZONE = 14 * 3_600_000  # the day of one time zone begins on that of another
_SHORT, _YEAR = 32, 365  # days
_SOON = 370 * _DAY  # that a plan may lie ahead
_MILLISECONDS = 10**11  # as seconds this would be the year 5138
_LAST = parse_time("2200-01-01")
_LIKELY = parse_time("1980-01-01")  # a smaller number is more likely a duration, or a day of a month


class DateEffect(NamedTuple):
    """What a record's time does to its score."""

    factor: float = 1.0  # what is left of it, if this is not the time that the query names
    share: float = 0.0  # what it is worth that it is, whatever the record says

    def weigh_share(self, place: float | None) -> float:
        """More for what is nearer in meaning, also where nothing of that time is near. `place`: on the scale of the
        model, 0 for unrelated texts, and less for those that are farther still; None: not known."""
        least, most = TUNING.date_share_range
        factor = 1.0 if place is None else TUNING.date_share_apart + TUNING.date_share_near * place
        return self.share * min(max(factor, least), most)


class DateBoost:
    """Proposes and prefers the documents of the times that a query names."""

    def __init__(self, pool: CandidatePool, named: NamedTimes, now: int) -> None:
        self._pool, self._now, self.rest = pool, now, named.rest
        self._spans = [(each, _measure_days(each, now)) for each in named.spans]
        self._share = TUNING.date_share_alone if named.alone else TUNING.date_share

    def propose(self) -> list[int]:
        """Documents of the likeliest times that are so short that all of their documents can be scored."""
        short = [span for span, days in self._spans if days <= _SHORT]
        return [
            number
            for span in short[: TUNING.dated_spans]
            for number in self._pool.find_between(
                span.begin - _ZONE, min(span.end, self._now + _SOON) + _ZONE, TUNING.dated_documents
            )
        ]

    def compute_effects(
        self, candidates: Mapping[int, SearchCandidate], chosen: Collection[int]
    ) -> dict[int, DateEffect]:
        """By the document's dates or, if it has none, by the time when it was saved."""
        times: dict[int, list[int]] = {number: [] for number in chosen}
        for number, text, value in self._pool.fetch_dates(chosen):
            at = parse_moment(text, value)
            if at is not None:
                times[number].append(at)
        return {
            number: max(
                compute_effect(at, span, days, self._share)
                for at in dated or [candidates[number].at]
                for span, days in self._spans
            )
            for number, dated in times.items()
        }


def compute_effect(at: int, span: DateSpan, days: float, share: float) -> DateEffect:
    """The shorter the time that was named, the more it counts, and the less is left of what lies beside it."""
    fit = compute_fit(at, span, days)
    least = TUNING.date_least + TUNING.date_least_more * min(days / _YEAR, 1.0)
    return DateEffect(least + (1.0 - least) * fit, fit * share / (1.0 + days / TUNING.date_share_days))


def compute_fit(at: int, span: DateSpan, days: float) -> float:
    """1 inside of the time, and less and less beside it. Of other readings than the likeliest, a part."""
    slack = min(days, TUNING.date_slack) * _DAY
    away = max((span.begin - at) / slack, (at - span.end) / (2 * slack), 0.0)  # one writes afterwards
    return math.exp(-away) * (TUNING.other_reading if span.rank else 1.0)


def _measure_days(span: DateSpan, now: int) -> float:
    """What is open ends now; what is open at its begin is long."""
    end = max(min(span.end, now), span.begin + _DAY) if span.end == OPEN_END else span.end
    return (end - span.begin) / _DAY


def parse_moment(text: str | None, number: float | None) -> int | None:
    """From a date in ISO 8601, or from seconds or milliseconds since 1970; None if it is no likely time."""
    if number is not None:
        at = number if number > _MILLISECONDS else number * 1000
        return int(at) if text is None and _LIKELY <= at <= _LAST else None
    with suppress(ValueError, OverflowError, OSError):
        moment = datetime.fromisoformat(text or "")
        if moment.tzinfo is None and len(text or "") <= 10:
            moment += timedelta(hours=12)  # a day, whenever it was: its middle
        # Without a zone it is a time here, as in a query.
        return (moment.astimezone() - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    return None
