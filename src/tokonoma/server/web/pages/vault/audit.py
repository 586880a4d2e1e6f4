"""Audit of an artifact: each of its elements, whether the lines that it cites say what it says, and where they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.errors import Denied, Invalid, Missing
from tokonoma.server.web.pages.file_views import CoverageStrip, build_strip, say_later
from tokonoma.server.web.pages.handler import PROBLEMS
from tokonoma.server.web.pages.manuals.overview import link_line as link_manual_line
from tokonoma.server.web.pages.manuals.overview import link_text
from tokonoma.server.web.pages.request import PageRequest, PageResponse
from tokonoma.server.web.pages.vault.common import link_action, link_file, link_line, list_crumbs

_MANUAL = "manual:"
_STATUSES = ("supported", "weak", "unsupported", "unread", "stale")

STATUSES: Mapping[str, tuple[str, str]] = {
    "supported": ("fine-tag", say_later("supported")),
    "weak": ("wait-tag", say_later("weak")),
    "unsupported": ("bad-tag", say_later("unsupported")),
    "unread": ("wait-tag", say_later("cited lines unread")),
    "stale": ("wait-tag", say_later("out of date")),
}

REASONS: Mapping[str, str] = {
    "words": say_later("Words are missing in the cited lines."),
    "no_words": say_later("It has no words that could be compared."),
    "numbers": say_later("Numbers are not in the cited lines."),
    "numbers_only": say_later("Only its numbers are there."),
    "negation": say_later("The cited lines say the opposite."),
    "obligation": say_later("Must and may differ."),
    "spread": say_later("The words are spread over several sentences."),
    "order": say_later("The words are there in another order."),
    "relation": say_later("The words are related in another way."),
    "broad": say_later("It cites more than 40 lines."),
    "heading_only": say_later("The words are only in a heading."),
    "no_model": say_later("Without an embedding model its meaning cannot be compared."),
    "no_citation": say_later("It cites no lines."),
    "unknown_source": say_later("It cites a file that is not among the sources."),
    "no_such_lines": say_later("It cites lines that the source does not have."),
    "version": say_later("It cites another version of the source."),
    "changed_since_read": say_later("The cited lines changed after they were read."),
    "cited_unread": say_later("The cited lines were not read as they are now."),
}

KINDS: Mapping[str, str] = {
    "heading": say_later("heading"),
    "paragraph": say_later("paragraph"),
    "list_item": say_later("list item"),
    "row": say_later("table row"),
    "node": say_later("node"),
    "edge": say_later("edge"),
    "group": say_later("group"),
    "object": say_later("JSON object"),
}


def show_audit(request: PageRequest) -> PageResponse:
    name, only = request.names["name"], request.get_parameter("only")
    given = [line.strip() for line in request.get_parameter("sources").splitlines() if line.strip()]
    values: dict[str, Any] = {
        "file": name,
        "crumbs": list_crumbs(name),
        "href": link_file(name),
        "here": link_action("audit", name),
        "sources": "\n".join(given),
        "only": only if only in _STATUSES else "",
        "report": None,
        "problem": "",
    }
    request.call("vault", "read", path=name, full=True, limits={"max_chars": 1})  # refused, if it cannot be read
    if not given:
        return PageResponse("vault/audit.html", values)
    sources = [_parse_source(each) for each in given]
    try:
        report = request.call("vault", "audit", artifact_path=name, sources=sources, report="all")
    except (Invalid, Missing, Denied) as error:
        return PageResponse("vault/audit.html", {**values, "problem": error.message}, PROBLEMS[error.kind][1])
    elements = [_describe_element(each, name, sources) for each in report["judged"]]
    if values["only"]:
        elements = [each for each in elements if each["status"] == values["only"]]
    findings = {
        "statuses": [(each, *STATUSES[each], report["statuses"][each]) for each in _STATUSES],
        "elements": elements,
        "strips": [strip for each in sources if (strip := _build_source_strip(request, each))],
        "orphans": [{**each, "href": link_line(name, each.get("line", 1))} for each in report["orphan"]],
        "one_way": report["one_way"],
    }
    return PageResponse("vault/audit.html", {**values, "report": report, **findings})


def _parse_source(line: str) -> dict[str, str]:
    """`manual:NAME/path` is a file of a manual, anything else one of the vault."""
    if not line.startswith(_MANUAL):
        return {"path": line}
    manual, _, path = line.removeprefix(_MANUAL).partition("/")
    return {"manual_id": manual, "path": path}


def _name_source(source: Mapping[str, str]) -> str:
    """As the report calls it."""
    return f"{source['manual_id']}/{source['path']}" if "manual_id" in source else source["path"]


def _describe_element(
    element: Mapping[str, Any], artifact: str, sources: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    status, reason = element["status"], element.get("reason", "")
    return {
        "status": status,
        "tag": STATUSES[status],
        "kind": KINDS.get(element["kind"], element["kind"]),
        "title": element["title"],
        "line": element.get("line"),
        "href": link_line(artifact, element["line"]) if element.get("line") else "",
        "share": element["share"],
        "reason": REASONS.get(reason, reason),
        "cited": [_link_citation(each, sources) for each in element.get("cited", ())],
        "found_in": _link_citation(element["found_in"], sources) if element.get("found_in") else None,
    }


def _link_citation(citation: str, sources: Sequence[Mapping[str, str]]) -> tuple[str, str]:
    """`source:first-last` with its page; without one if the source is not known."""
    name, _, lines = citation.rpartition(":")
    start, _, end = lines.partition("-")
    first = int(start)
    citation = f"{name}:{start}" if start == end else citation
    source = next((each for each in sources if _name_source(each) == name), None)
    if source is None or first < 1:
        return citation, ""
    if "manual_id" in source:
        return citation, link_manual_line(source, first)
    return citation, link_line(source["path"], first)


def _build_source_strip(request: PageRequest, source: Mapping[str, str]) -> CoverageStrip | None:
    coverage = request.ask("manual" if "manual_id" in source else "vault", "coverage", None, **source)
    if coverage is None:
        return None
    if "manual_id" in source:
        return build_strip(_name_source(source), link_text(source["manual_id"], coverage["path"]), coverage)
    return build_strip(coverage["path"], link_file(coverage["path"]), coverage)
