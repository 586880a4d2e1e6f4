"""How a process that lives long takes its memory from the system."""

import ctypes

_M_ARENA_MAX = -8  # from malloc.h
_PAUSE = 30.0  # seconds


def share_heap() -> None:
    """Let all threads allocate from one heap.

    glibc gives threads heaps of their own, up to eight for each core, and what was freed in one is of no use to the
    others: under a mixed load every second megabyte was such a gap. Other C libraries have no such setting.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_ARENA_MAX, 1)


def return_memory() -> float | None:
    """A step of a background job: give freed pages back to the system. glibc does so by itself only at the end of its
    heap, and there something is nearly always in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        return None
    trim(0)
    return _PAUSE
