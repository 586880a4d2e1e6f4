"""Taking turns: each round asks everybody, in a changing order, so that a machine that slows down slows all alike."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, TypeVar

T = TypeVar("T")
Sample = dict[str, float]
Samples = dict[str, dict[str, list[float]]]
"""measure → peer → one value a round"""


def turns(things: Sequence[T], rounds: int) -> Iterator[T]:
    """Rotated by one each round and turned round every other time."""
    for number in range(rounds):
        shift = (number // 2) % len(things)
        order = [*things[shift:], *things[:shift]]
        yield from reversed(order) if number % 2 else order


def collect(things: Sequence[T], rounds: int, name: Callable[[T], str], measure: Callable[[T], Sample]) -> Samples:
    samples: Samples = {}
    for thing in turns(things, rounds):
        for what, value in measure(thing).items():
            samples.setdefault(what, {}).setdefault(name(thing), []).append(value)
    return samples


def middle(samples: Samples, what: str) -> dict[str, float]:
    return {peer: median(values) for peer, values in samples.get(what, {}).items()}


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def tidy(value: Any) -> Any:
    """Four digits are more than any of these figures deserves."""
    return float(f"{value:.4g}") if isinstance(value, float) else value
