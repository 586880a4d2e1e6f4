"""Work on another thread, for a test whose own thread has a connection: a thread has one at a time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_aside(function: Callable[..., T], *args: Any) -> T:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()
