"""Items among each other and with the house: many writers, import on both databases, a rebuilt index."""

import json
from concurrent.futures import ThreadPoolExecutor

from specs.items_client import items_of
from talk import Lines

from tokonoma.cli.call import call_owner_tool
from tokonoma.core.concurrency import CancelToken
from tokonoma.search.index import count_by_module
from tokonoma.search.reindex import reindex


def test_many_writers_that_link_the_same_items_leave_every_link_on_both_sides(app, items):
    made = [items.make(str(number)) for number in range(6)]

    def work(number: int) -> list[str]:
        talk, codes = Lines(app), []
        for step in range(12):
            one, other = made[(number + step) % 6], made[(number * 5 + step * 7 + 1) % 6]
            if one is other:
                continue
            tool, params = (
                ("add_relation", {"target": other["address"]}),
                ("update_item", {"related": [other["address"]], "title": f"{number} {step}"}),
                ("update_item", {"related": [each["address"] for each in made if each is not one]}),
            )[step % 3]
            asked = {"type": "issue", "id": one["id"], **params}
            told = talk.tool("call", module="items", tool_name=tool, params=asked)
            codes.append(told["content"][0]["text"] if told.get("isError") else "ok")
        return codes

    with ThreadPoolExecutor(4) as pool:
        ended = [code for codes in pool.map(work, range(4)) for code in codes]
    assert set(ended) == {"ok"}
    with app.database.reading() as rows:
        links = set(rows.rows("select item_id, other_id, kind from item_link"))
        dangling = rows.rows("select count(*) from item_link where item_id = other_id")
    assert links == {(other, one, kind) for one, other, kind in links}
    assert dangling == [(0,)]
    history = items.get_item_history(type="issue", id=made[0]["id"], limit=100)["items"]
    revisions = [each["revision"] for each in history]
    assert revisions == sorted(revisions, reverse=True)
    assert len(set(revisions)) == len(revisions)
    assert revisions[0] == items.get(made[0])["revision"]


def test_an_export_goes_into_another_house_with_numbers_links_and_trash(app, items, tmp_path):
    a, b, c = items.make("a", tags=["t"]), items.make("b"), items.make("c")
    items.add_relation(type="issue", id=a["id"], target=b["address"], kind="blocks")
    items.add_relation(type="issue", id=a["id"], target=c["address"])
    items.delete_item(type="issue", id=c["id"])
    told = call_owner_tool(app, "items", "export", {})["items"]
    assert [each["id"] for each in told] == [a["id"], b["id"], c["id"]]
    with app.database.writing() as statements:
        for table in ("item_link", "item_tag", "item_hint", "item_change", "item"):
            statements.run(f"delete from {table}")
    for each in told:
        each["id"] += 1000
    landed = call_owner_tool(app, "items", "import", {"items": told})["items"]
    assert [each["outcome"] for each in landed] == ["saved"] * 3
    links = [{"uid": each["uid"], "links": each["links"]} for each in told]
    call_owner_tool(app, "items", "import.links", {"items": links, "accepted": [each["uid"] for each in told]})
    again = call_owner_tool(app, "items", "export", {})["items"]
    for each in told:
        for link in each["links"]:
            link["to"] = f"issue-{int(link['to'].partition('-')[2]) + 1000}"
    assert again == told
    assert items.make("next")["id"] == 1000 + c["id"] + 1
    assert items.restore_item(type="issue", id=1000 + c["id"])["related"] == [f"issue-{1000 + a['id']}"]


def test_the_index_can_be_made_anew_from_the_items(app, items):
    made = [items.make(f"lamp {number}", tags=["t"]) for number in range(120)]
    items.delete_item(type="issue", id=made[7]["id"])
    with app.database.writing() as statements:
        for (address,) in statements.rows("select address from document where module = 'items'"):
            if json.loads(address.rpartition("/")[2]) % 2:
                app.search.index.drop(statements, address)
    module = app.registry.get_module("items")
    steps = list(
        reindex(app.database, app.search.index, [module], app.policies.get_active().scan_document, CancelToken())
    )
    assert steps[-1].finished
    with app.database.reading() as rows:
        assert count_by_module(rows)["items"] == 119
    assert len(items.search_items(query="lamp tag:t", limit=100, mode="text")["items"]) == 100


def test_a_batch_passes_an_item_on(app):
    items = items_of(app)
    told = items.talk.batch(
        {"id": "a", "module": "items", "tool": "create_item", "params": {"type": "docs", "title": "one"}},
        {
            "id": "b", "module": "items", "tool": "create_item", "output": True, "fields": ["related"],
            "params": {"type": "issue", "title": "two", "related": ["${a.address}"]},
        },
    )  # fmt: skip
    assert told["results"]["b"] == {"related": ["docs-1"]}
