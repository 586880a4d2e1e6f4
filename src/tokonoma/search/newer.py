"""Of several notes that say the same, the newer one first: a corrected fact, a note that was written twice. Pure.

That a note is a later version of another shows in the two of them:

- The newer one says that something changed: "now", "moved", 変更. And it is much like the older one: near in meaning,
  with rare words in common.
- Without such a word the two must say almost the same. "Car insurance: 412, renews in March" and "house insurance: 298,
  renews in April" are more alike than most corrections are.
- Neither is clearly more like another note.

A mark that is wrong is worse than none: most corrections say nothing of a change, and only their writer can mark them
(marks.py). What somebody has said goes before all of this. To put the newer one of the best hits first, less is enough:
a fitted sum of signs (versions.py). The older one is then not marked; nor is it where there is no vector. Notes in two
languages are never exchanged by a guess.

Versions of a note exchange places, newest first, and the scores stay with the places. So nothing else moves, the scores
still fall from hit to hit, and their scale does not matter here.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from tokonoma.search.fusion import FusedScore, is_cross_language
from tokonoma.search.marks import follow
from tokonoma.search.tuning import TUNING
from tokonoma.search.versions import Cosines, NoteVersion, PairReader, get_cosine, names_change, weigh_versions


class GuessedVersion(NamedTuple):
    id: int
    is_sure: bool  # enough to mark the older one


def find_successors(
    notes: Sequence[NoteVersion], cosines: Cosines, levels: Mapping[int, float]
) -> dict[int, GuessedVersion]:
    """For each note that has one: its next newer version. `levels`: of all hits, how near they are to the question."""
    by_age = sorted(notes, key=lambda note: (note.at, note.id))
    possible = [pair for pair in combinations(by_age, 2) if _may_succeed(*pair, cosines)]
    if not possible:
        return {}
    reader, found = PairReader(notes, cosines, levels), dict[int, tuple[bool, float, int]]()
    for older, newer in possible:
        likeness = reader.compare(older, newer)
        is_sure = _may_be_sure(older, newer, cosines, 0.0) and _says_so(reader, older, newer, likeness)
        weight = weigh_versions(reader.read(older, newer)) if _may_exchange(older, newer) else -1.0
        if is_sure or weight >= 0.0 or (not cosines and _says_so(reader, older, newer, likeness)):
            told = (is_sure, likeness if is_sure else weight, newer.id)
            found[older.id] = max(found.get(older.id, told), told)
    return {older: GuessedVersion(newer, is_sure) for older, (is_sure, _, newer) in found.items()}


def _may_exchange(older: NoteVersion, newer: NoteVersion) -> bool:
    """Whether their places are such that an exchange helps: further down most notes are about something else. Who names
    what only the older one holds asks for that, unless the newer one says that something changed: it may be short."""
    first, last = TUNING.version_places
    if not (older.rank < first and older.rank < newer.rank < last):
        return False
    return newer.coverage >= TUNING.version_same_words * older.coverage or names_change(older, newer)


def put_newer_first(
    ranked: Sequence[FusedScore],
    successors: Mapping[int, int],
    written: Mapping[int, int],
    brought: Mapping[int, FusedScore] = MappingProxyType({}),
) -> list[FusedScore]:
    """The versions of each note in its places, the last one first, each before those that it succeeds; of others the
    one that was `written` last. `brought`: notes that were not found, and come in where an older one stands first."""
    paths = {number: follow(successors, number) for number in {*successors, *successors.values()}}
    last = {number: path[-1] if path else number for number, path in paths.items()}
    versions: dict[int, list[FusedScore]] = {}
    for each in ranked:
        if (number := each.evidence.id) in last:
            versions.setdefault(last[number], []).append(each)
    for same in versions.values():  # taken from the end
        same.sort(key=lambda each: (-len(paths[each.evidence.id]), written.get(each.evidence.id, each.evidence.at)))
    moved: list[FusedScore] = []
    waiting = dict(brought)
    for each in ranked:
        group = last.get(each.evidence.id)
        if group is None:
            moved.append(each)
            continue
        if group in waiting:
            moved.append(waiting.pop(group)._replace(score=each.score))
        moved.append(versions[group].pop()._replace(score=each.score))
    return moved


def _may_succeed(older: NoteVersion, newer: NoteVersion, cosines: Cosines) -> bool:
    """Whether it is worth comparing their words. Whether a note in another language says the same, a small model does
    not know well enough, and its translation must not stand above what holds the question itself."""
    return (
        older.place == newer.place
        and newer.at - older.at >= TUNING.version_gap
        and newer.date_factor >= older.date_factor
        and not is_cross_language(older.language, newer.language)
        and (_may_exchange(older, newer) or _may_be_sure(older, newer, cosines, 1.0))
    )


def _may_be_sure(older: NoteVersion, newer: NoteVersion, cosines: Cosines, missing: float) -> bool:
    return get_cosine(older, newer, cosines, missing) >= TUNING.version_cosine


def _says_so(reader: PairReader, older: NoteVersion, newer: NoteVersion, likeness: float) -> bool:
    """That the newer one is a version of the older, in so many words; and neither is clearly more like another."""
    if likeness < (TUNING.version_changed if names_change(older, newer) else TUNING.version_repeated):
        return False
    return TUNING.version_closest * reader.find_closest(older, newer) <= likeness
