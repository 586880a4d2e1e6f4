"""Artifacts as graphs: what they cite and join, and how large they may be."""

import time
from contextlib import suppress

import pytest

from tokonoma.core.errors import Denied
from tokonoma.modules.vault.citations import Citation, find_citations, strip_citations
from tokonoma.modules.vault.diagrams import parse_chart
from tokonoma.modules.vault.flowcharts import parse_flowchart
from tokonoma.modules.vault.outlines import parse_outline


def test_a_chart():
    chart = parse_flowchart('graph TD\nA["Start (L1)"] -- yes --> B & C\nB --- C')
    assert [each.title for each in chart.elements if each.kind == "node"] == ["Start", "B", "C"]
    assert [(each.origin, each.goal, each.relation) for each in chart.references] == [
        ("A", "B", "yes"), ("A", "C", "yes"), ("B", "C", ""), ("C", "B", ""),
    ]  # fmt: skip


def test_a_chart_of_too_many_links_is_refused():
    with pytest.raises(Denied, match="more than 10000 links"):
        parse_flowchart("graph TD\n" + " & ".join(f"a{n}" for n in range(101)) + " --> " + " & ".join("b" * 100))


@pytest.mark.parametrize("unit", ["- a\n", "```mermaid\ngraph TD\n```\n"])
def test_an_artifact_of_too_many_parts_is_refused(unit):
    with pytest.raises(Denied, match="more than 20000 parts"):
        parse_outline("# A\n" + unit * 20_001)


def test_citations():
    found = find_citations("text source_lines: 10-20, 33 and [L5-L7]")
    assert found == (Citation(10, 20), Citation(33, 33), Citation(5, 7))
    assert find_citations("出典行: setup.md:3-4@3F9AC1、b/c.md:7") == (
        Citation(3, 4, "setup.md", "3f9ac1"),
        Citation(7, 7, "b/c.md"),
    )
    assert strip_citations("title <!-- source_lines: 3 --> (L4)") == "title"
    assert strip_citations("a (source_lines: b.md:3-9@abcdef) c") == "a  c"


@pytest.mark.parametrize("unit", ["-- ", "-. x", "A & ", "[L1, ", "source lines: 1, ", "( ", "<!--"])
def test_one_long_line_takes_time_in_proportion(unit):
    line = "A " + unit * (100_000 // len(unit))
    before = time.thread_time()
    with suppress(Denied):  # too many links
        parse_flowchart(f"graph TD\n{line}")
    find_citations(line)
    strip_citations(line)
    for kind in ("sequenceDiagram", "stateDiagram-v2", "classDiagram", "erDiagram", "pie"):
        with suppress(Denied):
            parse_chart(f"{kind}\n{line}")
    with suppress(Denied):
        parse_outline(line)
    assert time.thread_time() - before < 3
