"""explain_search: `search` with the parts of each score, and why a record is not among the hits. No client is offered
it: it is what the search page asks, and every client pays for what tools/list holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Record, parse_address
from tokonoma.core.errors import Invalid, Missing, Unavailable
from tokonoma.core.namespaces import format_namespace, is_inside
from tokonoma.core.query import AnyOf, Condition, Query, SearchFilter
from tokonoma.core.records import FoundRecord, find_records, format_title, list_modules, mask_address
from tokonoma.gateway.search import FoundResult, build_filter, build_query, collect_hits, read_dates, to_result

_COMPARED = 400  # hits among which the expected record is looked for
_KINDS = ("type", "kind")  # the facts of items and claims that tell what kind of record it is

FilterName = Literal["modules", "namespace", "since", "until", "kind"]


class ExplainedResult(FoundResult):
    namespace: str
    kind: NotRequired[str]
    score_details: dict[str, Any]


class SearchLeg(TypedDict):
    """How the record fares by words alone, or by meaning alone. Without a rank it is not found at all in this way."""

    rank: NotRequired[int]
    score: NotRequired[float]
    reason: NotRequired[Literal["no_model", "no_vector", "no_match"]]


class ExpectedRecord(TypedDict):
    """`rank`: its place in this search; without one, `excluded_by` names the filters that it does not pass."""

    exists: bool
    id: NotRequired[str]
    title: NotRequired[str]
    rank: NotRequired[int]
    score: NotRequired[float]
    compared: NotRequired[int]
    excluded_by: NotRequired[list[FilterName]]
    not_indexed: NotRequired[bool]
    words: NotRequired[SearchLeg]
    meaning: NotRequired[SearchLeg]


class ExplainedResults(TypedDict):
    results: list[ExplainedResult]
    modules: list[str]
    expected: NotRequired[ExpectedRecord]


def explain_search(
    desk: Desk,
    query: str,
    modules: list[str] | None = None,
    namespace: str | None = None,
    since: str | None = None,
    until: str | None = None,
    kind: str | None = None,
    k: int = 20,
    expect: str | None = None,
) -> ExplainedResults:
    """Search all modules like `search`, with the parts of each score. `expect` is an address or a title: the answer
    says whether there is such a record and why it is not among the hits."""
    where, request = build_filter(desk, modules, namespace, since, until), replace(build_query(query, k), explain=True)
    if kind:
        where = replace(where, conditions=(AnyOf(tuple(Condition(key, "is", (kind,)) for key in _KINDS)),))
    found = collect_hits(desk, request, where, k)
    addresses = [each[0].hit.address for each in found]
    dates, kinds = read_dates(desk, addresses), _read_kinds(desk, addresses)
    answer: ExplainedResults = {
        "results": [_explain_result(desk, query, each, dates, kinds) for each in found],
        "modules": list_modules(desk, "search"),
    }
    if expect and expect.strip():
        answer["expected"] = _Expectation(desk, replace(request, explain=False), where, kind).explain(expect.strip())
    return answer


def _read_kinds(desk: Desk, addresses: Sequence[str]) -> dict[str, str]:
    if not addresses:
        return {}
    names = {f"a{number}": address for number, address in enumerate(addresses)}
    listed, keys = ", ".join(f":{name}" for name in names), ", ".join(f"'{key}'" for key in _KINDS)
    sql = f"""select d.address, f.text from document d join fact f on f.document = d.id and f.key in ({keys})
    where d.address in ({listed}) and f.text is not null and {{visible:d}} order by f.key"""  # noqa: S608 - parameters
    return dict(desk.rows(sql, **names))


def _explain_result(
    desk: Desk, query: str, found: list[FoundRecord], dates: dict[str, int], kinds: Mapping[str, str]
) -> ExplainedResult:
    hit, record = found[0].hit, found[0].record
    place = desk.policy.mask_text(record.namespace, record.address, record.namespace)
    result = cast("ExplainedResult", to_result(desk, query, found, dates))
    result["namespace"] = format_namespace(place, desk.principal)
    result["score_details"] = dict(hit.score_parts)
    if hit.address in kinds:
        result["kind"] = desk.policy.mask_text(kinds[hit.address], record.address, record.namespace)
    return result


@dataclass(frozen=True, slots=True)
class _Expectation:
    """Why a record is or is not among the hits of one search."""

    desk: Desk
    request: Query
    where: SearchFilter
    kind: str | None

    def explain(self, expect: str) -> ExpectedRecord:
        """A record that the caller may not see is like one that does not exist."""
        record = self._find_record(expect)
        if record is None:
            return {"exists": False}
        answer: ExpectedRecord = {
            "exists": True,
            "id": mask_address(self.desk, record),
            "title": format_title(record),
        }
        row = self.desk.row(
            "select at, space from document where (address = :address or (address >= :low and address < :high))"
            " and {visible} order by address limit 1",
            address=record.address,
            low=f"{record.address}#",
            high=f"{record.address}$",  # "$" follows "#"
        )
        if row is None:
            return {**answer, "not_indexed": True}
        excluded = self._list_failed_filters(record, row[0])
        if excluded:
            answer["excluded_by"] = excluded
        ranks = [each.hit for each in find_records(self.desk, replace(self.request, limit=_COMPARED), self.where)]
        answer["compared"] = len(ranks)
        for rank, hit in enumerate(ranks, 1):
            if _is_part(hit.address, record.address):
                answer["rank"], answer["score"] = rank, round(hit.score, 3)
                break
        answer["words"], answer["meaning"] = self._try_leg(record, "text"), self._try_leg(record, "vector")
        return answer

    def _find_record(self, expect: str) -> Record | None:
        known, is_address = list_modules(self.desk, "read"), expect.startswith("tokonoma://")
        for address in [expect] if is_address else self._list_titled(expect):
            try:
                record = self.desk.read(address) if parse_address(address)[0] in known else None
            except (Missing, Invalid):
                continue
            # As this caller sees the title: a part of it may be hidden, and must not be guessed.
            if record is not None and (is_address or expect.casefold() in _read_title(record).casefold()):
                return record
        return None

    def _list_titled(self, title: str) -> list[str]:
        """The newest records with this title, or the best ones by its words."""
        sql = "select address from document where title = :title and {visible} order by at desc, id desc limit 5"
        found = [address for (address,) in self.desk.rows(sql, title=title)]
        if found:
            return found
        everywhere = SearchFilter(tuple(list_modules(self.desk, "search")))
        near = find_records(self.desk, Query(title, mode="text", limit=20), everywhere)
        return [each.record.address for each in near]

    def _list_failed_filters(self, record: Record, at: int) -> list[FilterName]:
        where = self.where
        kinds = _read_kinds(self.desk, [record.address])
        failed: dict[FilterName, bool] = {
            "modules": record.module not in where.modules,
            "namespace": where.namespace is not None and not is_inside(record.namespace, where.namespace),
            "since": where.since is not None and at < where.since,
            "until": where.until is not None and at > where.until,
            "kind": bool(self.kind) and kinds.get(record.address) != self.kind,
        }
        return [name for name, fails in failed.items() if fails]

    def _try_leg(self, record: Record, mode: Literal["text", "vector"]) -> SearchLeg:
        """Without the filters: they are a reason of their own."""
        alone = replace(self.request, mode=mode, limit=_COMPARED, newer_first_in=())
        where = SearchFilter((record.module,))
        try:
            for rank, each in enumerate(find_records(self.desk, alone, where), 1):
                if _is_part(each.hit.address, record.address):
                    return {"rank": rank, "score": round(each.hit.score, 3)}
            reason = self.desk.find(replace(alone, limit=1, expect=record.address), where).why_not or ""
        except Unavailable:
            return {"reason": "no_model"}
        return {"reason": "no_vector" if "embedded" in reason else "no_match"}


def _read_title(record: Record) -> str:
    return record.title or format_title(record)


def _is_part(address: str, whole: str) -> bool:
    return address == whole or address.startswith(f"{whole}#")
