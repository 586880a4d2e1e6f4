"""The same work on many items, on all cores."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_BATCH = 10_000


def over(
    work: Callable[[list[Item]], Result],
    items: Iterable[Item],
    prepare: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[Result]:
    """Results in the order of the items, a few batches ahead of whoever takes them."""
    source = iter(items)
    batches = iter(lambda: list(islice(source, _BATCH)), [])
    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers, get_context("fork"), initializer=prepare, initargs=given) as pool:
        waiting = [pool.submit(work, batch) for batch in islice(batches, 3 * workers)]
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(work, batch) for batch in islice(batches, 1)]
