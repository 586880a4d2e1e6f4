"""Whether lines say the same in other words or in another language, by an embedding model: where words alone fail.

Each word of a sentence is looked for among the words of the lines; so a sentence about something else stays apart, even
if it is built alike. All sentences of an audit are compared in one batch.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.normalize import HAN, HIRAGANA, KATAKANA
from tokonoma.files.ranges import Range
from tokonoma.modules.vault.cited_lines import CitedLines
from tokonoma.modules.vault.sentences import Sentence, list_meanings
from tokonoma.modules.vault.support import Verdict, differs_in_duty, match_numbers

Compare = Callable[[Sequence[tuple[str, Sequence[str]]]], list[list[float]] | None]

# Measured with the built-in model: translations of a word are at 0.6 to 0.95, other words of the same field below 0.5.
_SAME_WORD, _NEAR_WORD = 0.58, 0.5
_SAME_SENTENCE, _NEAR_SENTENCE = 0.6, 0.6
_ENOUGH = 0.5  # of the words, for a sentence that is near
_MAX_SENTENCES = 60  # of the lines, for one claim
_MAX_QUESTIONS = 600  # claims in one batch
_JAPANESE = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}]")
_LATIN = re.compile("[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Question:
    """A claim whose words are not in the lines that it cites."""

    claim: Sentence
    verdict: Verdict
    source: CitedLines
    ranges: Sequence[Range]


def judge_meanings(questions: Sequence[Question], compare: Compare) -> list[Verdict]:
    """The verdicts with what the model says. Without a model, another language is weak, and other words stay as they
    are."""
    asked = questions[:_MAX_QUESTIONS]
    pairs: list[tuple[str, Sequence[str]]] = []
    plans: list[tuple[list[str], list[int], list[list[str]]]] = []
    for each in asked:
        words = list(dict.fromkeys(list_meanings(each.claim.text)))
        candidates = list(each.verdict.candidates)[:_MAX_SENTENCES]
        said = [_list_said(each, at) for at in candidates]
        every = list(dict.fromkeys(word for one in said for word in one))
        plans.append((words, candidates, said))
        pairs += [(word, every) for word in words]
        pairs.append((each.claim.text, [each.source.claims[at].claim.text for at in candidates]))
    answers = compare(pairs) if pairs else []
    if answers is None:
        return [_judge_without_model(each) for each in questions]
    verdicts: list[Verdict] = []
    at = 0
    for each, (words, candidates, said) in zip(asked, plans, strict=True):
        every = list(dict.fromkeys(word for one in said for word in one))
        likeness = [dict(zip(every, row, strict=True)) for row in answers[at : at + len(words)]]
        sentences = answers[at + len(words)]
        at += len(words) + 1
        verdicts.append(_judge(each, words, candidates, said, likeness, sentences))
    return [*verdicts, *(_judge_without_model(each) for each in questions[len(asked) :])]


def _list_said(question: Question, at: int) -> list[str]:
    source = question.source.claims[at]
    inside = source.clip(question.ranges)
    if inside is None or inside is not source:
        return []  # a part of a sentence has no meaning of its own
    around = [other for number in source.around if (other := question.source.claims[number].clip(question.ranges))]
    words = [word for each in (source, *around) for word in list_meanings(each.claim.text)]
    return list(dict.fromkeys(words))


def is_foreign(claim: Sentence, source: CitedLines, candidates: Sequence[int]) -> bool:
    """Whether the lines are in another script than the claim."""
    texts = "".join(source.claims[at].claim.text for at in candidates)
    mine, theirs = _share_of_japanese(claim.text), _share_of_japanese(texts)
    return abs(mine - theirs) > 0.4


def _share_of_japanese(text: str) -> float:
    japanese, latin = len(_JAPANESE.findall(text)), len(_LATIN.findall(text)) / 3
    return japanese / (japanese + latin) if japanese + latin else 0.0


def _judge_without_model(question: Question) -> Verdict:
    if is_foreign(question.claim, question.source, question.verdict.candidates):
        return replace(question.verdict, status="weak", reason="no_model")
    return question.verdict


def _judge(
    question: Question,
    words: Sequence[str],
    candidates: Sequence[int],
    said: Sequence[Sequence[str]],
    likeness: Sequence[dict[str, float]],
    sentences: Sequence[float],
) -> Verdict:
    foreign = is_foreign(question.claim, question.source, candidates)
    limit = _SAME_WORD if foreign else _NEAR_WORD
    best, best_share, best_likeness = -1, 0.0, -1.0
    for place, spoken in enumerate(said):
        found = sum(any(row[word] >= limit for word in spoken) for row in likeness)
        share = found / len(words) if words else 0.0
        if (share, sentences[place]) > (best_share, best_likeness):
            best, best_share, best_likeness = place, share, sentences[place]
    if best < 0:
        return question.verdict
    source = question.source.claims[candidates[best]].claim
    share, lines = round(max(best_share, question.verdict.share), 3), (source.first_line, source.last_line)
    if foreign and best_share == 1.0 and best_likeness >= _SAME_SENTENCE:
        reason = _find_difference(question.claim, source)
        return Verdict("weak" if reason else "supported", share, reason, lines)
    if best_share >= _ENOUGH or max(sentences) >= _NEAR_SENTENCE:
        return Verdict("weak", share, "words", lines)
    return replace(question.verdict, share=share)


def _find_difference(claim: Sentence, source: Sentence) -> str:
    """What a translation must keep: numbers, whether it denies, whether it obliges, and the order of shared names."""
    if any(not any(match_numbers(each, other) for other in source.numbers) for each in claim.numbers):
        return "numbers"
    if (claim.denies or claim.forbids) != (source.denies or source.forbids):
        return "negation"
    if differs_in_duty(claim, source):
        return "obligation"
    shared = [word.key for word in source.words]
    places = [shared.index(word.key) for word in claim.words if word.key in shared]
    return "order" if places != sorted(places) else ""
