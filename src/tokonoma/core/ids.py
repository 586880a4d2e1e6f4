"""Ids: UUIDv7 (they sort by time) for records and requests."""

import os
import time


def uuid7() -> str:
    """A UUIDv7 as text: 48 bits of milliseconds, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high = (milliseconds << 16) | 0x7000 | (random >> 68)
    low = (0b10 << 62) | (random & ((1 << 62) - 1))
    text = f"{high:016x}{low:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def hex_id(size: int) -> str:
    """`size` random bytes in hexadecimal: trace and span ids."""
    return os.urandom(size).hex()
