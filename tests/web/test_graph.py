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
    return {
        tuple(re.sub("<[^>]+>", "", cell).replace("Start here", "").replace("Remove", "").strip() for cell in row)
        for row in rows
    }


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


def change(site, do: str, source: str, target: str, kind: str = "", path: str = "/admin/graph"):
    form = {"token": site.find_token(), "do": do, "source": source, "target": target, "kind": kind}
    return site.post(path, form)


def test_relations_of_memos_are_added_and_removed(chain):
    site, names = chain
    added = change(site, "add", names["F"], names["A"], "因果", f"/admin/graph?start={quote(names['A'])}&depth=2")
    assert added.status_code == 303
    assert added.headers["location"] == f"/admin/graph?start={quote(names['A'], safe='')}&depth=2&notice=link_added"
    assert ("Memo F", "因果", "Memo A") in list_rows(read(site, start=names["A"]))
    removed = change(site, "remove", names["F"], names["A"], "因果")
    assert removed.headers["location"].endswith("notice=link_removed")
    assert ("Memo F", "因果", "Memo A") not in list_rows(read(site, start=names["A"]))
    assert change(site, "remove", names["F"], names["A"], "因果").status_code == 400


def test_items_are_linked_with_items_and_records(chain):
    site, names = chain
    one, other = (site.call("items", "create_item", type="issue", title=title) for title in ("Roof", "Ladder"))
    first, second = (f"tokonoma://items/{each['id']}" for each in (one, other))
    assert change(site, "add", second, first, "blocks").status_code == 303
    assert change(site, "add", names["A"], first).status_code == 303  # the item holds the link
    rows = list_rows(read(site, start=first))
    assert ("Ladder", "blocks", "Roof") in rows or ("Roof", "blocked_by", "Ladder") in rows
    assert ("Roof", "references", "Memo A") in rows
    assert change(site, "remove", second, first, "blocks").status_code == 303
    assert change(site, "remove", first, names["A"], "references").status_code == 303
    assert list_rows(read(site, start=first)) == {("These records have no links.",)} or "no links" in read(
        site, start=first
    )


@pytest.mark.parametrize(
    ("source", "target", "kind", "says"),
    [
        ("A", "A", "", "A memo cannot be related to itself."),
        ("A", "nowhere", "", "is not an address"),
        ("A", "tokonoma://memory/00000000-0000-7000-8000-000000000000", "", "There is no record at"),
        ("A", "claim", "", "A link can be made between two memos"),
        ("item", "A", "blocks", "Between an item and another record"),
        ("item", "A", "<script>", "A link of an item is one of"),
    ],
)
def test_a_wrong_link_is_refused_and_stays_in_the_form(chain, source, target, kind, says):
    site, names = chain
    item = site.call("items", "create_item", type="issue", title="Roof")
    source_of = {"at": "2026-01-01T00:00:00Z"}
    claim = site.call("claims", "upsert", text="Tea is green.", scope="project", provenance=source_of)["id"]
    known = {**names, "item": f"tokonoma://items/{item['id']}", "claim": f"tokonoma://claims/{claim}"}
    page = change(site, "add", known.get(source, source), known.get(target, target), kind)
    assert page.status_code in (400, 404)
    assert says in page.text
    assert f'name="target" value="{known.get(target, target)}"' in page.text


def test_only_links_that_the_page_can_remove_have_a_button(chain):
    site, names = chain
    site.call("vault", "create", path="a.md", content=f"[A]({names['A']}) [b](b.md)")
    site.call("vault", "create", path="b.md", content="b")
    text = read(site, start="tokonoma://vault/a.md")
    assert "b.md" in text
    assert 'value="remove"' not in text
    assert 'value="remove"' in read(site, start=names["A"])
    forged = change(site, "remove", "tokonoma://vault/a.md", "tokonoma://vault/b.md", "link")
    assert "This link stands in a text or a source." in forged.text
