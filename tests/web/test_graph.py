"""The graph page: its table, the data of its picture, and the path between two records."""

import re
from itertools import pairwise
from urllib.parse import quote

import pytest

from tokonoma.core.reach import Reach


@pytest.fixture
def chain(site):
    """Memos A to E, each related to the next; F alone; an item that refers to A."""
    site.sign_in()
    names = {}
    for letter in "ABCDEF":
        saved = site.call("memory", "save", content=f"Content of {letter}", title=f"Memo {letter}", namespace="/work")
        names[letter] = saved["memo_id"]
    for one, other in pairwise("ABCDE"):
        site.call("memory", "relation.save", sourceMemoId=names[one], targetMemoId=names[other], tag="next", weight=1.0)
    return site, {letter: f"tokonoma://memory/{name}" for letter, name in names.items()}


def read(site, **parameters) -> str:
    page = site.get(f"/admin/graph?{'&'.join(f'{name}={quote(value)}' for name, value in parameters.items())}")
    assert page.status_code == 200, page.text
    return page.text


def list_rows(text: str) -> set[tuple[str, ...]]:
    """The rows of the table: from, relation, to."""
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", text, re.DOTALL)
    return {tuple(re.sub("<[^>]+>", "", cell).replace("Start here", "").strip() for cell in row) for row in rows}


def test_the_newest_records_and_their_links(chain):
    site, _ = chain
    text = read(site)
    assert "6 records, 4 links" in text
    assert list_rows(text) == {(f"Memo {one}", "next", f"Memo {other}") for one, other in pairwise("ABCDE")}
    alone = text.partition("Without links")[2]
    assert re.findall(r">(Memo .)</a>", alone) == ["Memo F"]


@pytest.mark.parametrize(("depth", "letters"), [("1", "BCD"), ("2", "ABCDE"), ("3", "ABCDE")])
def test_a_record_with_what_is_around_it(chain, depth, letters):
    site, addresses = chain
    text = read(site, start=addresses["C"], depth=depth)
    assert list_rows(text) == {(f"Memo {one}", "next", f"Memo {other}") for one, other in pairwise(letters)}
    data = site.get(f"/admin/graph/data?start={quote(addresses['C'])}&depth={depth}")
    assert data.headers["content-type"] == "application/json"
    nodes = {node["title"]: node for node in data.json()["nodes"]}
    assert sorted(nodes) == [f"Memo {letter}" for letter in letters]
    assert nodes["Memo C"]["expanded"]
    assert {(edge["source"], edge["target"]) for edge in data.json()["edges"]} == {
        (addresses[one], addresses[other]) for one, other in pairwise(letters)
    }


def test_near_in_meaning_is_dashed_on_request(chain):
    site, addresses = chain
    plain = read(site, start=addresses["F"])
    assert "1 records, 0 links" in plain
    near = list_rows(read(site, start=addresses["F"], near="1"))
    assert {each[1].split()[0] for each in near} == {"near"}


def test_the_path_between_two_records(chain):
    site, addresses = chain
    text = read(site, **{"from": addresses["E"], "to": addresses["A"]})
    steps = re.search(r'<ol class="list numbered"(.*?)</ol>', text, re.DOTALL)
    assert steps is not None
    assert re.findall(r">(Memo .)</a>", steps[1]) == [f"Memo {letter}" for letter in "EDCBA"]
    assert list_rows(text) == {(f"Memo {one}", "next", f"Memo {other}") for one, other in pairwise("ABCDE")}
    data = site.get(f"/admin/graph/data?from={quote(addresses['E'])}&to={quote(addresses['A'])}").json()
    assert len(data["edges"]) == 4
    same = read(site, **{"from": addresses["A"], "to": addresses["A"]})
    assert "1 records, 0 links" in same
    assert "No links lead from the one to the other." in read(site, **{"from": addresses["F"], "to": addresses["A"]})


@pytest.mark.parametrize("start", ["tokonoma://memory/nothing", "nonsense", "tokonoma://nowhere/1"])
def test_an_address_that_leads_nowhere_is_said_beside_the_form(chain, start):
    site, _ = chain
    page = site.get(f"/admin/graph?start={quote(start)}")
    assert page.status_code in (400, 404)
    assert 'role="alert"' in page.text
    assert start in page.text


def test_the_picture_ends_where_the_reach_ends(chain):
    site, addresses = chain
    home = site.call("memory", "save", content="At home", title="Memo H", namespace="/home")["memo_id"]
    ends = {"sourceMemoId": addresses["A"].rpartition("/")[2], "targetMemoId": home}
    site.call("memory", "relation.save", **ends, tag="next", weight=1.0)
    modules = frozenset({"memory", "system"})
    site.add_person("ada", reach=Reach("/work", "/work", modules, frozenset(), frozenset()))
    assert "Memo H" in read(site, start=addresses["A"])
    site.cookies.clear()
    site.sign_in("ada")
    assert "Memo H" not in read(site, start=addresses["A"], depth="3")
    assert site.get(f"/admin/graph?start={quote(f'tokonoma://memory/{home}')}").status_code == 404


def test_an_empty_home_says_what_would_stand_here(site):
    site.sign_in()
    text = read(site)
    assert "No records yet." in text
    assert 'id="graph"' not in text


def test_only_this_page_loads_the_picture(chain):
    site, _ = chain
    assert "cytoscape" in read(site)
    assert "cytoscape" not in site.get("/admin/search").text
