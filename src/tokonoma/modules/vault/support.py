"""Whether the lines that an element cites say what it says, by words and numbers. Pure functions.

supported    one sentence of the cited lines has every word and number, in the same order and with the same denials
weak         most words are near each other in the cited lines; or something in between differs
unsupported  the words, a number or a denial are not there

A sentence is judged against the sentences of the lines, never against all of them together: a wide citation supports no
more than a narrow one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tokonoma.files.ranges import Range, count_lines
from tokonoma.modules.vault.cited_lines import CitedLines, SourceSentence
from tokonoma.modules.vault.sentences import Number, Sentence, Word
from tokonoma.modules.vault.vocabulary import FREE_RELATIONS, PARTICLES

SupportStatus = Literal["supported", "weak", "unsupported"]
_ORDER: tuple[SupportStatus, ...] = ("unsupported", "weak", "supported")

WINDOW_LINES = 6
"""Lines that support is looked for in, at most."""
BROAD_LINES = 40
"""A citation of more lines than this points nowhere in particular."""
ENOUGH_WORDS, ENOUGH_TITLE_WORDS = 0.6, 0.34
_MAX_CANDIDATES = 60  # sentences of a broad citation
_COMMON = 400  # sentences: a word in more of them does not lead anywhere


@dataclass(frozen=True, slots=True)
class Verdict:
    """`share` of the words found together; `reason` why it is not supported; `lines` where it was found."""

    status: SupportStatus
    share: float
    reason: str = ""
    lines: Range | None = None
    needs_meaning: bool = False  # the words are not there: another language or other words may say the same
    candidates: tuple[int, ...] = ()

    def is_worse_than(self, other: "Verdict") -> bool:
        return (_ORDER.index(self.status), self.share) < (_ORDER.index(other.status), other.share)


def judge_sentence(
    claim: Sentence, source: CitedLines, ranges: Sequence[Range], enough: float = ENOUGH_WORDS
) -> Verdict:
    """One sentence of an element against the lines that the element cites."""
    if not claim.words and not claim.numbers:
        return Verdict("unsupported", 0.0, "no_words")
    numbers = _find_candidates(claim, source, ranges)
    clipped = {at: each for at in numbers if (each := source.claims[at].clip(ranges)) is not None}
    best = Verdict("unsupported", 0.0, "words")
    for each in clipped.values():
        around = [inside for number in each.around if (inside := source.claims[number].clip(ranges)) is not None]
        verdict = _compare_sentences(claim, each, around)
        if verdict is not None and best.is_worse_than(verdict):
            best = verdict
    if best.status != "supported":
        window = _judge_window(claim, clipped, enough)
        # That a sentence says the opposite is known better than that its words are near each other.
        if best.reason != "negation" or best.status != "unsupported":
            best = window if best.lines is None or best.is_worse_than(window) else best
    return replace(best, candidates=tuple(clipped))


def limit_broad(verdict: Verdict, ranges: Sequence[Range]) -> Verdict:
    if verdict.status == "supported" and count_lines(ranges) > BROAD_LINES:
        return replace(verdict, status="weak", reason="broad")
    return verdict


def _find_candidates(claim: Sentence, source: CitedLines, ranges: Sequence[Range]) -> list[int]:
    """All sentences of a narrow citation; of a broad one, those with the rarest words."""
    numbers = source.find_sentences(ranges)
    if len(numbers) <= _MAX_CANDIDATES:
        return numbers
    inside, hits = set(numbers), dict[int, int]()
    postings = sorted((source.postings.get(word.key, ()) for word in claim.words), key=len)
    for places in postings:
        if len(places) <= _COMMON or not hits:
            for at in places:
                if at in inside:
                    hits[at] = hits.get(at, 0) + 1
    ranked = sorted(hits, key=lambda at: (-hits[at], at))[: _MAX_CANDIDATES // 3]
    near = {at + step for at in ranked for step in (-1, 0, 1)} & inside
    step = max(1, len(numbers) // _MAX_CANDIDATES)
    return sorted(near) or numbers[::step]


def _compare_sentences(claim: Sentence, source: SourceSentence, around: Sequence[SourceSentence]) -> Verdict | None:
    """Whether one sentence says it all; None if words or numbers are missing in it."""
    own = [word for word in claim.words if _look_up(word, source)]
    rest = [word for word in claim.words if not _look_up(word, source)]
    if any(not any(_look_up(word, each) for each in around) for word in rest) or (claim.words and not own):
        return None
    said = [*source.claim.numbers, *(number for each in around for number in each.claim.numbers)]
    if not all(any(match_numbers(one, other) for other in said) for one in claim.numbers):
        return None
    lines = (source.claim.first_line, source.claim.last_line)
    if not claim.words:
        return Verdict("weak", 1.0, "numbers_only", lines)
    asks = claim.is_heading and claim.text.rstrip().endswith(("?", "？"))  # the question of a branch denies nothing
    if not asks and is_denied_otherwise(claim, own, source):
        plain = bool(claim.denies or claim.forbids) != bool(source.claim.denies or source.claim.forbids)
        return Verdict("unsupported" if plain else "weak", 1.0, "negation", lines)
    if differs_in_duty(claim, source.claim):
        return Verdict("weak", 1.0, "obligation", lines)
    problem = _find_order_problem(claim, own, source)
    if problem:
        return Verdict("weak", 1.0, problem, lines)
    if source.claim.is_heading and not claim.is_heading:
        return Verdict("weak", 1.0, "heading_only", lines)
    return Verdict("supported", 1.0, "", lines)


def _look_up(word: Word, source: SourceSentence) -> Sequence[Word]:
    found = source.by_key.get(word.key)
    if found is None and word.is_name:
        return [other for other in source.claim.words if other.is_name and word.key in other.key]
    return found or ()


def match_numbers(one: Number, other: Number) -> bool:
    """The same number, in the same unit or in one that can be converted; a unit may be left out, but a share is none of
    other things."""
    if one.kind and other.kind and one.kind == other.kind and one.factor != other.factor:
        try:
            left, right = float(one.value) * one.factor, float(other.value) * other.factor
        except ValueError:
            return False
        return abs(left - right) <= 1e-9 * max(left, right)
    if one.kind == "share" and other.kind != "share":
        return False
    return one.value == other.value and (one.kind == other.kind or not one.kind or not other.kind)


def is_denied_otherwise(claim: Sentence, words: Sequence[Word], source: SourceSentence) -> bool:
    if claim.denies and not (source.claim.denies or source.claim.forbids):
        return True
    return any(all(word.is_denied != other.is_denied for other in _look_up(word, source)) for word in words)


def differs_in_duty(claim: Sentence, source: Sentence) -> bool:
    """Whether one says that something must be, and the other that it may be."""
    if claim.obliges:
        return not source.obliges
    return claim.permits and source.obliges and not source.permits


def _find_order_problem(claim: Sentence, own: Sequence[Word], source: SourceSentence) -> str:
    """Whether the words come in another order, depend on something else, or are taken from several statements."""
    steps: list[tuple[int, list[tuple[int, bool]]]] = []
    for word in own:
        steps.append((word.place, [(each.place, _may_depend(word, each)) for each in _look_up(word, source)]))
    for number in claim.numbers:
        same = [each for each in source.claim.numbers if match_numbers(number, each)]
        if same:
            steps.append((number.place, [(each.place, _may_depend(number, each)) for each in same]))
    steps.sort(key=lambda step: step[0])
    if _walk([places for _, places in steps], lambda pair: True) is None:
        return "order"
    walked = _walk([places for _, places in steps], lambda pair: pair[1])
    if walked is None:
        return "relation"
    return "spread" if _skips_statements(claim, own, source, walked) else ""


def _walk(steps: Sequence[Sequence[tuple[int, bool]]], may: Callable[[tuple[int, bool]], bool]) -> list[int] | None:
    """The first places that rise from step to step; None if there are none."""
    places: list[int] = []
    last = -1
    for step in steps:
        following = [pair[0] for pair in step if pair[0] >= last and may(pair)]
        if not following:
            return None
        last = min(following)
        places.append(last)
    return places


def _may_depend(one: Word | Number, other: Word | Number) -> bool:
    mine, theirs = one.relation, other.relation
    if not mine or mine == theirs:
        return True
    return not theirs and (mine in FREE_RELATIONS or mine in PARTICLES)


def _skips_statements(claim: Sentence, own: Sequence[Word], source: SourceSentence, walked: Sequence[int]) -> bool:
    """Whether more is left out between the words than a shorter sentence leaves out, or a number before another."""
    first, last, taken = walked[0], walked[-1], set(walked)
    left_out = [each for each in source.claim.words if first < each.place < last and each.place not in taken]
    if len(left_out) > max(1, len(own) // 2):
        return True
    kinds = {each.kind for each in claim.numbers}
    return any(
        first < each.place < last and each.kind in kinds for each in source.claim.numbers if each.place not in taken
    )


def _judge_window(claim: Sentence, clipped: dict[int, SourceSentence], enough: float) -> Verdict:
    """The few lines with most of the words, and all numbers."""
    best, best_rank, has_numbers = Verdict("unsupported", 0.0, "words", needs_meaning=True), (False, 0.0), False
    order = sorted(clipped)
    found = {at: {n for n, word in enumerate(claim.words) if _look_up(word, clipped[at])} for at in order}
    for start, at in enumerate(order):
        first = clipped[at].claim.first_line
        words, numbers, end = set[int](), list[Number](), clipped[at].claim.last_line
        for other in order[start:]:
            last = clipped[other].claim.last_line
            if last - first >= WINDOW_LINES and other != at:
                break
            words |= found[other]
            numbers += clipped[other].claim.numbers
            end = last
        missing = [each for each in claim.numbers if not any(match_numbers(each, said) for said in numbers)]
        is_complete = not [each for each in missing if not each.soft]
        has_numbers |= is_complete
        share = round(len(words) / len(claim.words), 3) if claim.words else float(is_complete)
        if (is_complete, share) > best_rank:
            best_rank = (is_complete, share)
            status: SupportStatus = "weak" if is_complete and share >= enough else "unsupported"
            reason = "numbers" if not is_complete else "spread" if share == 1.0 else "words"
            best = Verdict(status, share, reason, (first, end), is_complete and status == "unsupported")
    if claim.numbers and not has_numbers and clipped:
        return replace(best, status="unsupported", reason="numbers", needs_meaning=False)
    return best
