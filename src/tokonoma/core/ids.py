"""Ids: UUIDv7 (they sort by time) for records and requests; and Opaque, the type of strings that hold no user text."""

import os
import time
from _random import Random  # the C part alone: `random` itself costs a tenth of a cold start
from itertools import count
from typing import Annotated

# Ids must be unique, not secret. Asking the system for random bytes releases the interpreter's lock each time.
_count = count()
_bits = Random(int.from_bytes(os.urandom(32), "big")).getrandbits


OPAQUE = object()  # pydantic ignores annotations that it does not know
Opaque = Annotated[str, OPAQUE]
"""A string that no user wrote (an id, a hash, an address, a time): nothing in it is masked"""


def uuid7() -> str:
    """A UUIDv7 as text: 48 bits of milliseconds, 12 that count within them, 62 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    high = (milliseconds << 16) | 0x7000 | (next(_count) & 0xFFF)
    low = (0b10 << 62) | _bits(62)
    text = f"{high:016x}{low:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_trace_ids() -> tuple[str, str]:
    """For a trace and a span: 16 and 8 random bytes in hexadecimal. Never for secrets."""
    both = f"{_bits(192):048x}"
    return both[:32], both[32:]


def random_hex(size: int) -> str:
    """`size` random bytes in hexadecimal. Never for secrets."""
    return f"{_bits(8 * size):0{2 * size}x}"
