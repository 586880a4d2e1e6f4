"""The pages of items: what they show, what their forms change, and what they say when a tool refuses."""

import re
from html import unescape
from typing import Any

import pytest
from web.site import Site

from tokonoma.core.errors import Missing
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.words.item_values import name_values


@pytest.fixture
def person(site) -> Site:
    site.sign_in()
    return site


def create(site: Site, title: str = "Printer is offline", type: str = "issue", **fields) -> dict[str, Any]:
    return site.call("items", "create_item", type=type, title=title, **fields)


def read(site: Site, number: int) -> dict[str, Any]:
    return site.call("items", "get_item_detail", type="items", id=number)


def send(site: Site, path: str, **fields):
    return site.post(path, {"token": site.find_token(), **fields})


def find_hidden(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', text)}


def test_every_value_of_the_tools_has_a_name(open_site):
    site = open_site()
    statuses = [each["name"] for each in site.call("items", "get_statuses")["items"]]
    for language in ("en", "ja"):
        assert set(statuses) <= set(name_values(language))
    assert name_values("ja")["In Progress"] == "進行中"


def test_an_empty_board_says_how_to_fill_it(person):
    assert "items.create_item" in person.get("/admin/items").text
    assert "New item" in person.get("/admin/items/table").text
    assert "The trash is empty" in person.get("/admin/items/table?state=trash").text


def test_a_card_moves_to_another_column(person):
    item = create(person)
    page = person.get("/admin/items?type=issue")
    assert re.search(r"Open <span class=\"count\">1</span>", page.text)
    moved = send(person, "/admin/items?type=issue", id=item["id"], revision=1, status="Review")
    assert moved.headers["location"] == f"/admin/items?type=issue&notice=moved#item-{item['id']}"
    assert read(person, item["id"])["status"] == "Review"
    stale = send(person, "/admin/items", id=item["id"], revision=1, status="Testing")
    assert stale.status_code == 400
    assert "is at revision 2" in stale.text
    assert read(person, item["id"])["status"] == "Review"


def test_a_column_counts_all_and_shows_the_first(person):
    for number in range(22):
        create(person, f"Number {number}")
    create(person, "Done", status="Completed")
    page = person.get("/admin/items").text
    assert ">22</span>" in page
    assert page.count('class="card"') == 20
    assert "Completed <span" not in page
    assert 'Completed <span class="count">1' in person.get("/admin/items?closed=1").text
    assert person.get("/admin/items?q=title:21").text.count('class="card"') == 1
    wrong = person.get("/admin/items?q=(title:21")
    assert wrong.status_code == 400
    assert "Cannot parse the query at character 1" in wrong.text


def test_the_table_takes_the_query_language(person):
    create(person, "Printer is offline", tags=["office"], priority="HIGH")
    create(person, "Scanner is offline", "bug", status="Completed")
    for query, found in {
        "tag:office": ["Printer"],
        "offline AND scanner": ["Scanner"],
        "offline NOT scanner": ["Printer"],
        '"is offline"': ["Printer", "Scanner"],
        "type:bug": ["Scanner"],
        "is:open updated:7d": ["Printer"],
    }.items():
        page = person.ask("GET", "/admin/items/table", params={"q": query}).text
        assert {each for each in ("Printer", "Scanner") if f"{each} is offline</a>" in page} == set(found), query
    wrong = person.get("/admin/items/table?q=status:Done")
    assert wrong.status_code == 400
    assert 'value="status:Done"' in wrong.text


def test_the_table_goes_on_page_by_page_in_order(person):
    for number in range(25):
        create(person, f"Number {number:02}")
    for path in ("/admin/items/table?size=20&sort=title", "/admin/items/table?size=20&sort=title&q=type:issue"):
        first = person.get(path).text
        assert re.findall(r"Number \d\d", first)[0] == "Number 00"
        more = unescape(re.search(r'class="button" href="([^"]+)"', first)[1])
        assert re.findall(r">(Number \d\d)</a>", person.get(more).text) == [f"Number {each}" for each in range(20, 25)]
    assert (
        re.findall(r">(Number \d\d)</a>", person.get("/admin/items/table?sort=title&order=desc").text)[0] == "Number 24"
    )


def test_a_new_item_has_all_fields(person):
    fields = {"type": "bug", "title": "Broken", "description": "d", "content": "# c", "status": "Ready"}
    more = {"priority": "LOW", "category": "ui", "start_date": "2026-01-01", "end_date": "2026-02-01", "version": "2"}
    rest = {"assignee": "ada", "tags": "a, b、c", "related": create(person)["address"]}
    preview = send(person, "/admin/items/new", **fields, **more, **rest, action="preview")
    assert "<h3>c</h3>" in preview.text
    assert person.call("items", "get_stats")["total"] == 1
    made = send(person, "/admin/items/new", **fields, **more, **rest)
    item = read(person, int(re.search(r"/admin/items/(\d+)", made.headers["location"])[1]))
    assert (item["type"], item["tags"], item["related"]) == ("bug", ["a", "b", "c"], ["issue-1"])
    assert (item["end_date"][:10], item["assignee"], item["priority"]) == ("2026-02-01", "ada", "LOW")


def test_what_was_typed_stays_when_it_is_refused(person):
    page = send(person, "/admin/items/new", type="Not A Type", title="Kept title", content="Kept text")
    assert page.status_code == 400
    assert "Kept title" in page.text
    assert "Kept text" in page.text
    item = create(person)
    edited = send(person, f"/admin/items/{item['id']}/edit", title="", content="Kept text", revision=1)
    assert edited.status_code == 400
    assert "Kept text" in edited.text


def test_the_editor_sends_what_was_changed(person):
    item = create(person, tags=["a,b"], content="one\r\ntwo", end_date="2026-02-01T09:30:00Z")
    path = f"/admin/items/{item['id']}/edit"
    form = person.get(path).text
    assert 'value="2026-02-01T09:30:00.000Z"' in form
    fields = {"title": "New", "content": "one\r\ntwo", "status": "Open", "priority": "MEDIUM", "tags": "a,b"}
    send(person, path, **fields, end_date="2026-02-01T09:30:00.000Z", revision=1, comment="because")
    now = read(person, item["id"])
    assert (now["title"], now["tags"], now["content"]) == ("New", ["a,b"], "one\r\ntwo")
    assert now["comments"][0]["text"] == "because"
    (change, _) = person.call("items", "get_item_history", type="items", id=item["id"])["items"]
    assert set(change["changes"]) == {"title", "comment"}


def test_a_conflict_shows_both_and_loses_nothing(person):
    item = create(person, content="one\ntwo")
    path = f"/admin/items/{item['id']}/edit"
    person.call("items", "update_item", type="items", id=item["id"], content="one\nthree", title="Theirs")
    mine = {"title": "Mine", "content": "one\nfour", "status": "Open", "priority": "MEDIUM"}
    page = send(person, path, **mine, revision=1)
    assert page.status_code == 409
    assert "<td>Theirs</td><td>Mine</td>" in page.text
    assert "<del>− three</del>" in page.text
    assert "<ins>+ four</ins>" in page.text
    assert read(person, item["id"])["title"] == "Theirs"
    saved = send(person, path, **mine, revision=find_hidden(page.text)["revision"])
    assert saved.status_code == 303
    assert read(person, item["id"])["content"] == "one\nfour"


def test_one_item_is_assigned_claimed_released_commented_and_retyped(person):
    number = create(person, description="**bold**", assignee="claude")["id"]
    path = f"/admin/items/{number}"
    assert "<strong>bold</strong>" in person.get(f"/admin/items/issue-{number}").text
    refused = send(person, path, action="claim", assignee="ada")
    assert refused.status_code == 400
    assert "is held by claude" in refused.text
    assert 'value="ada"' in refused.text
    send(person, path, action="release")
    assert "assignee" not in read(person, number)
    send(person, path, action="claim", minutes="30")
    claimed = read(person, number)
    assert (claimed["assignee"], claimed["status"], "claimed_until" in claimed) == ("owner", "In Progress", True)
    send(person, path, action="assign", assignee="ada", revision=claimed["revision"])
    send(person, path, action="comment", text="*hello*")
    send(person, path, action="type", to_type="bug")
    item = read(person, number)
    assert (item["assignee"], item["type"], item["comments"][0]["text"]) == ("ada", "bug", "*hello*")
    assert "<em>hello</em>" in person.get(path).text
    assert send(person, path, action="comment", text=" ").status_code == 400
    assert send(person, path, action="other").status_code == 400


def test_links_are_added_and_removed_and_circles_refused(person):
    first, second, third = (create(person, title)["id"] for title in ("One", "Two", "Three"))
    for source, target in ((first, second), (second, third)):
        send(person, f"/admin/items/{source}/links", kind="blocks", target=f"issue-{target}")
    circle = send(person, f"/admin/items/{third}/links", kind="blocks", target=f"issue-{first}")
    assert circle.status_code == 400
    assert "would close a circle" in circle.text
    page = person.get(f"/admin/items/{first}/links?to=issue-{third}").text
    assert re.search(r"blocks →</span> <a [^>]*>Two</a>.*blocks →</span> <a [^>]*>Three</a>", page, re.DOTALL)
    afterwards = page[page.index('id="then"') :]
    assert afterwards.index("Two") < afterwards.index("depth-1") < afterwards.index("Three")
    assert "Nothing blocks this item." in page
    assert "not found" in person.get(f"/admin/items/{first}/links?to=issue-99").text
    send(person, f"/admin/items/{first}/links", action="remove", kind="blocks", target=f"issue-{second}")
    assert read(person, first)["relations"] == []


def test_the_history_compares_and_goes_back(person):
    number = create(person, "First", content="one\ntwo")["id"]
    person.call("items", "update_item", type="items", id=number, title="Second", content="one\nthree")
    person.call("items", "update_item", type="items", id=number, title="Third")
    path = f"/admin/items/{number}/history"
    whole = person.get(path).text
    assert "<del>First</del> → <ins>Second</ins>" in whole
    assert "<ins>+ three</ins>" in whole
    assert "<del>First</del> → <ins>Third</ins>" in person.get(f"{path}?old=1&new=3").text
    ask = person.get(f"{path}?back=1").text
    assert "<del>Third</del> → <ins>First</ins>" in ask
    hidden = find_hidden(ask[ask.index('name="expected"') - 200 :])
    person.call("items", "update_item", type="items", id=number, title="Fourth")
    assert send(person, path, revision=1, expected=hidden["expected"]).status_code == 409
    assert send(person, path, revision=1, expected=4).status_code == 303
    item = read(person, number)
    assert (item["title"], item["content"]) == ("First", "one\ntwo")


def test_an_item_is_deleted_in_two_steps_and_comes_back(person):
    number = create(person)["id"]
    ask = person.get(f"/admin/items/{number}/delete").text
    assert "moves to the trash" in ask
    assert send(person, f"/admin/items/{number}/delete", revision=7).status_code == 409
    assert send(person, f"/admin/items/{number}/delete", revision=1).status_code == 303
    with pytest.raises(Missing):
        read(person, number)
    assert person.get(f"/admin/items/{number}").status_code == 404
    assert "Printer is offline" in person.get("/admin/items/table?state=trash").text
    assert "in the trash" in person.get(f"/admin/items/{number}/history").text
    send(person, "/admin/items/table", id=number)
    assert read(person, number)["status"] == "Open"


def test_tags_are_renamed_and_merged_after_a_question(person):
    create(person, "One", tags=["ofice"])
    create(person, "Two", tags=["office"])
    assert "ofice" in person.get("/admin/items/tags").text
    ask = send(person, "/admin/items/tags", tag="ofice", to="office")
    assert "Merge ofice into office" in ask.text
    assert len(person.call("items", "get_tags")["items"]) == 2
    send(person, "/admin/items/tags", **find_hidden(ask.text[ask.text.index("<main") :]))
    assert person.call("items", "get_tags")["items"] == [{"tag": "office", "count": 2}]
    assert "Remove office from all items" in send(person, "/admin/items/tags", tag="office", to="").text
    assert send(person, "/admin/items/tags", tag="none", to="x").status_code == 400


def test_many_items_change_after_a_preview(person):
    one = create(person, "One", tags=["a"], category="ui")["id"]
    two = create(person, "Two", status="Review")["id"]
    create(person, "Three", "docs")
    fields = {"query": "type:issue", "status": "Review", "add_tags": "b", "remove_tags": "A", "clear": "category"}
    preview = send(person, "/admin/items/bulk", **fields, action="preview")
    assert "The query finds 2 items; 2 of them would change." in preview.text
    assert "<del>Open</del> → <ins>Review</ins>" in preview.text
    assert "<del>ui</del> → <ins>–</ins>" in preview.text
    assert read(person, one)["status"] == "Open"
    hidden = find_hidden(preview.text[preview.text.index("<main") :])
    person.call("items", "update_item", type="items", id=two, title="Changed")
    again = send(person, "/admin/items/bulk", **hidden, action="apply")
    assert again.status_code == 409
    assert read(person, one)["status"] == "Open"
    hidden = find_hidden(again.text[again.text.index("<main") :])
    assert send(person, "/admin/items/bulk", **hidden, action="apply").status_code == 303
    first = read(person, one)
    assert (first["status"], first["tags"], first["category"]) == ("Review", ["b"], None)
    assert read(person, two)["tags"] == ["b"]
    back = send(person, "/admin/items/bulk", **hidden, action="edit")
    assert 'value="type:issue"' in back.text


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"query": "", "status": "Review"}, "Write a query first"),
        ({"query": "x"}, "Choose at least one change"),
        ({"query": "(x", "status": "Review"}, "Cannot parse the query"),
    ],
)
def test_a_change_of_many_that_cannot_be_done_says_why(open_site, fields, problem):
    site = open_site()
    site.sign_in()
    page = send(site, "/admin/items/bulk", **fields)
    assert page.status_code == 400
    assert problem in page.text


def test_ready_items_can_be_claimed_and_due_ones_are_marked(person):
    first = create(person, "First", end_date="2026-01-01")["id"]
    second = create(person, "Second", end_date="2199-01-01", tags=["later"])["id"]
    person.call("items", "add_relation", type="items", id=first, target=f"issue-{second}", kind="blocks")
    page = person.get("/admin/items/ready").text
    ready = page[page.index('id="ready"') : page.index('id="due"')]
    assert "First" in ready
    assert "Second" not in ready
    due = page[page.index('id="due"') :]
    assert due.index("First") < due.index("Second")
    assert due.count("overdue") == 1
    send(person, "/admin/items/ready", id=first)
    assert read(person, first)["assignee"] == "owner"
    assert "First" not in person.get("/admin/items/ready?free=1").text.split('id="due"')[0]
    assert "Nothing is ready" in person.get("/admin/items/ready?tag=nothing").text


def test_the_project_state_is_written_and_compared(person):
    assert send(person, "/admin/items/state", content="# First").status_code == 303
    send(person, "/admin/items/state", content="# Second", tags="a", revision=1)
    page = person.get("/admin/items/state?revision=1").text
    assert "<del>− # First</del><ins>+ # Second</ins>" in page
    stale = send(person, "/admin/items/state", content="# Mine", revision=1)
    assert stale.status_code == 409
    assert "<ins>+ # Mine</ins>" in stale.text
    assert person.call("items", "get_current_state")["content"] == "# Second"


def test_a_person_who_may_only_read_cannot_change(person):
    number = create(person)["id"]
    person.add_person("reader", reach=Reach("/", "/", None, frozenset({"*:write", "*:destroy"}), frozenset()))
    person.cookies.clear()
    person.sign_in("reader")
    assert person.get(f"/admin/items/{number}").status_code == 200
    assert send(person, "/admin/items", id=number, revision=1, status="Review").status_code == 400
    assert read(person, number)["status"] == "Open"
