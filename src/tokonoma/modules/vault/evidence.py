"""What an audit says of each element: whether its citations exist, were read, are current, and say what it says."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tokonoma.files.ranges import Range, count_lines, intersect_ranges, merge_ranges, subtract_ranges
from tokonoma.modules.vault.artifacts import ArtifactElement
from tokonoma.modules.vault.audit_sources import AuditSource, find_source
from tokonoma.modules.vault.cited_lines import CitedLines
from tokonoma.modules.vault.meanings import Compare, Question, judge_meanings
from tokonoma.modules.vault.sentences import Sentence, parse_sentence, split_sentences
from tokonoma.modules.vault.support import (
    BROAD_LINES,
    ENOUGH_TITLE_WORDS,
    ENOUGH_WORDS,
    WINDOW_LINES,
    Verdict,
    judge_sentence,
    limit_broad,
)
from tokonoma.modules.vault.vocabulary import GENERIC_TITLES

ElementStatus = Literal["supported", "weak", "unsupported", "unread", "stale"]
_MAX_SENTENCES = 40  # of one element; a longer one is never supported


@dataclass(frozen=True, slots=True)
class ElementVerdict:
    """`counted` are the lines of each source, by its name, that the element's citations cover."""

    element: ArtifactElement
    status: ElementStatus
    share: float
    reason: str = ""
    found_in: str = ""
    is_rootless: bool = False
    counted: dict[str, list[Range]] = field(default_factory=dict[str, list[Range]])


@dataclass(slots=True)
class _Case:
    """An element, the lines that it cites of each source, and what is found for each of its sentences."""

    element: ArtifactElement
    cited: dict[str, list[Range]]
    problem: str = ""
    is_stale: bool = False
    verdicts: list[tuple[Sentence, Verdict, str]] = field(default_factory=list[tuple[Sentence, Verdict, str]])


def judge_elements(
    elements: Sequence[ArtifactElement], sources: Sequence[AuditSource], compare: Compare
) -> list[ElementVerdict]:
    by_name = {each.name: each for each in sources}
    cases = [_open_case(element, sources) for element in elements]
    wanted: dict[str, list[Range]] = {}
    for case in cases:
        for name, ranges in case.cited.items():
            wanted.setdefault(name, []).extend(ranges)
    texts = {name: CitedLines(by_name[name].file.lines, ranges) for name, ranges in wanted.items()}
    for case in cases:
        if not case.problem:
            _judge_words(case, texts)
    _judge_meanings(cases, texts, compare)
    return [_close_case(case, by_name, texts) for case in cases]


def _open_case(element: ArtifactElement, sources: Sequence[AuditSource]) -> _Case:
    """Look up what is cited; a citation that leads nowhere makes the element rootless."""
    case = _Case(element, {})
    if not element.citations:
        case.problem = "no_citation"
    for citation in element.citations:
        source = find_source(sources, citation.source)
        if source is None:
            case.problem = "unknown_source"
        elif not 1 <= citation.start <= citation.end <= len(source.file.lines):
            case.problem = "no_such_lines"
        else:
            case.is_stale |= bool(citation.version) and not source.file.version.startswith(citation.version)
            case.cited.setdefault(source.name, []).append((citation.start, citation.end))
    if case.problem:
        case.cited = {}
    return case


def _judge_words(case: _Case, texts: dict[str, CitedLines]) -> None:
    element = case.element
    is_title = element.kind in ("heading", "node", "group")
    stop = GENERIC_TITLES if is_title else frozenset[str]()
    sentences = _list_sentences(element)
    for sentence in sentences[:_MAX_SENTENCES]:
        claim = parse_sentence(sentence, stop, is_heading=is_title)
        if is_title and not claim.words and not claim.numbers and parse_sentence(sentence).words:
            case.verdicts.append((claim, Verdict("supported", 1.0), ""))  # a title such as "Overview" claims nothing
            continue
        best, where = Verdict("unsupported", 0.0, "words"), ""
        for name, ranges in case.cited.items():
            enough = ENOUGH_TITLE_WORDS if element.kind == "heading" else ENOUGH_WORDS
            verdict = judge_sentence(claim, texts[name], merge_ranges(ranges), enough)
            if not where or best.is_worse_than(verdict):
                best, where = verdict, name
        case.verdicts.append((claim, best, where))
    if len(sentences) > _MAX_SENTENCES:
        case.verdicts.append((parse_sentence(""), Verdict("weak", 0.0, "too_long"), ""))
    if len(element.parts) == 2 and len(case.cited) == 1:
        _judge_edge(case, texts)


def _list_sentences(element: ArtifactElement) -> list[str]:
    if element.parts:
        return [element.text]
    lines = [line for line in element.text.split("\n") if line.strip()]
    if element.kind not in ("object", "paragraph", "list_item") or element.kind != "object":
        lines = [" ".join(lines)]
    return [sentence for line in lines for sentence in split_sentences(line)]


def _judge_edge(case: _Case, texts: dict[str, CitedLines]) -> None:
    """An edge is supported too if its two ends are said one after the other, in neighbouring lines."""
    if all(verdict.status == "supported" for _, verdict, _ in case.verdicts):
        return
    ((name, ranges),) = case.cited.items()
    ends = [
        judge_sentence(parse_sentence(part, is_heading=True), texts[name], merge_ranges(ranges))
        for part in case.element.parts
    ]
    if any(each.status != "supported" or each.lines is None for each in ends):
        return
    (claim, verdict, where) = case.verdicts[0]
    first, second = (each.lines or (0, 0) for each in ends)
    if first[0] <= second[0] and second[1] - first[0] < WINDOW_LINES:
        found = Verdict("supported", 1.0, "", (first[0], second[1]))
    else:
        found = replace(
            verdict, status="weak", reason="order" if second[0] < first[0] else "spread", needs_meaning=False
        )
    case.verdicts = [(claim, found, where)]


def _judge_meanings(cases: Sequence[_Case], texts: dict[str, CitedLines], compare: Compare) -> None:
    places: list[tuple[_Case, int]] = []
    questions: list[Question] = []
    for case in cases:
        for at, (claim, verdict, where) in enumerate(case.verdicts):
            if verdict.needs_meaning and where:
                places.append((case, at))
                questions.append(Question(claim, verdict, texts[where], merge_ranges(case.cited[where])))
    for (case, at), verdict in zip(places, judge_meanings(questions, compare) if questions else [], strict=True):
        claim, _, where = case.verdicts[at]
        case.verdicts[at] = (claim, verdict, where)


def _close_case(case: _Case, sources: dict[str, AuditSource], texts: dict[str, CitedLines]) -> ElementVerdict:
    if case.problem:
        return ElementVerdict(case.element, "unsupported", 0.0, case.problem, is_rootless=True)
    worst, where = Verdict("unsupported", 0.0, "no_words"), ""
    for place, (_, verdict, name) in enumerate(case.verdicts):
        limited = limit_broad(verdict, [each for ranges in case.cited.values() for each in ranges])
        if place == 0 or limited.is_worse_than(worst):
            worst, where = limited, name
    found = f"{where}:{worst.lines[0]}-{worst.lines[1]}" if where and worst.lines else ""
    counted = (
        {}
        if worst.status == "unsupported"
        else {
            name: _count(ranges, [each.lines for _, each, other in case.verdicts if other == name and each.lines])
            for name, ranges in case.cited.items()
        }
    )
    status, reason = _choose_status(case, worst, sources)
    return ElementVerdict(case.element, status, worst.share, reason, found, counted=counted)


def _count(ranges: Sequence[Range], found: Sequence[Range]) -> list[Range]:
    """A broad citation covers only the lines in which something was found."""
    return list(ranges) if count_lines(ranges) <= BROAD_LINES else intersect_ranges(ranges, found)


def _choose_status(case: _Case, worst: Verdict, sources: dict[str, AuditSource]) -> tuple[ElementStatus, str]:
    changed = any(intersect_ranges(ranges, sources[name].log.changed) for name, ranges in case.cited.items())
    if case.is_stale or changed:
        return "stale", "version" if case.is_stale else "changed_since_read"
    if worst.status == "unsupported":
        return "unsupported", worst.reason
    for name, ranges in case.cited.items():
        source = sources[name]
        for start, end in subtract_ranges(ranges, source.log.read):
            if any(source.file.lines[number - 1].strip() for number in range(start, end + 1)):
                return "unread", "cited_unread"
    return worst.status, worst.reason
