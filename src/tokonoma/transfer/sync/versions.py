"""Versions of a record across homes: how often each home has edited it. Pure.

A version that counts at least as many edits of every home as another holds all edits of the other one. Two versions of
which neither does were made beside each other, and have to be merged.
"""

from collections.abc import Iterable, Mapping

import orjson

Version = Mapping[str, int]
"""home → number of its edits"""


def includes(version: Version, other: Version) -> bool:
    """Whether every edit of the other version is in this one."""
    return all(version.get(home, 0) >= count for home, count in other.items())


def join_versions(one: Version, other: Version) -> dict[str, int]:
    """The version that holds the edits of both."""
    return {home: max(one.get(home, 0), other.get(home, 0)) for home in {*one, *other}}


def meet_versions(one: Version, other: Version) -> dict[str, int]:
    """The edits that are in both."""
    common = {home: min(one.get(home, 0), other.get(home, 0)) for home in {*one, *other}}
    return {home: count for home, count in common.items() if count}


def add_edit(version: Version, home: str) -> dict[str, int]:
    return {**version, home: version.get(home, 0) + 1}


def keep_greatest(versions: Iterable[Version]) -> list[Version]:
    """Those that no other one includes."""
    kept: list[Version] = []
    for version in sorted(versions, key=count_edits, reverse=True):
        if not any(includes(each, version) for each in kept):
            kept.append(version)
    return kept


def count_edits(version: Version) -> int:
    return sum(version.values())


def encode_version(version: Version) -> str:
    return orjson.dumps(dict(version), option=orjson.OPT_SORT_KEYS).decode()


def decode_version(text: str) -> dict[str, int]:
    return orjson.loads(text)
