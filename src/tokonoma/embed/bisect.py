"""When a batch cannot be used: find the texts that spoil it, or find that it is the provider."""

from collections.abc import Callable
from typing import TypeVar

from tokonoma.embed.embedder import UnusableAnswer

Item = TypeVar("Item")
Result = TypeVar("Result")

_ENOUGH = 3  # texts that fail alone before any succeeds: no more are tried


def bisect_failures(
    items: list[Item], embed: Callable[[list[Item]], list[Result]]
) -> tuple[list[tuple[Item, Result]], list[tuple[Item, UnusableAnswer]]]:
    """Those that could be embedded, and those that could not. If there is none of the first kind, it may well be the
    provider's fault, and items may be missing from both."""
    good: list[tuple[Item, Result]] = []
    bad: list[tuple[Item, UnusableAnswer]] = []
    left = [items] if items else []
    while left and (good or len(bad) < _ENOUGH):
        part = left.pop()
        try:
            good += zip(part, embed(part), strict=True)
        except UnusableAnswer as error:
            if len(part) == 1:
                bad.append((part[0], error))
            else:
                middle = len(part) // 2
                left += [part[middle:], part[:middle]]
    return good, bad
