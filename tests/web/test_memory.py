"""The pages of memos without a browser: what each shows, and what its forms do."""

import re
from urllib.parse import urlencode

import pytest
from web.site import Site

from tokonoma.core.errors import Missing
from tokonoma.core.reach import Reach

LIST = "/admin/memory"


@pytest.fixture
def own(site) -> Site:
    site.sign_in()
    return site


def save(site: Site, content: str, **fields: object) -> str:
    return site.call("memory", "save", content=content, **fields)["memo_id"]


def send(site: Site, path: str, **form: object) -> "tuple[int, str]":
    """A form with the token of the session: the status, and where it leads or what it shows."""
    answer = site.post(path, {"token": site.find_token(), **form})
    return answer.status_code, answer.headers.get("location", answer.text)


def list_names(text: str) -> list[str]:
    return [re.sub(r"<[^>]+>", "", each) for each in re.findall(r"<a data-item[^>]*>(.*?)</a>", text)]


def read_form(text: str) -> dict[str, str]:
    """The fields of the editor as a browser would send them back."""
    inputs = re.findall(r"<input [^>]*>", text)
    fields = "".join(each for each in inputs if 'type="checkbox"' not in each)
    found = dict(re.findall(r'name="([a-z_]+)"[^>]*? value="([^"]*)"', fields))
    areas = re.findall(r'<textarea [^>]*name="(\w+)"[^>]*>\n(.*?)</textarea>', text, re.DOTALL)
    return {**found, **{name: value.replace("&#34;", '"') for name, value in areas}}


def test_the_tree_counts_what_lies_below(own):
    save(own, "one", namespace="/home/garden")
    save(own, "two", namespace="/home/garden/pump")
    save(own, "three", namespace="/work")
    text = own.get(f"{LIST}?namespace=/home/garden").text
    counts = dict(re.findall(r'>(\S+) <span class="count">(\d+)</span>', text))
    assert counts == {"All": "3", "home": "2", "garden": "2", "pump": "1", "work": "1"}
    assert re.search(r'aria-current="true">garden', text)
    assert set(list_names(text)) == {"one", "two"}


def test_a_list_is_paged_to_its_end(own):
    for number in range(53):
        save(own, f"memo {number:02}", namespace="/many")
    first = own.get(f"{LIST}?sort=-created").text
    assert list_names(first)[:2] == ["memo 00", "memo 01"]
    following = re.search(r'class="button" href="([^"]+cursor[^"]+)"', first)
    assert following is not None
    rest = own.get(following[1].replace("&amp;", "&")).text
    assert list_names(rest) == ["memo 50", "memo 51", "memo 52"]
    assert "cursor" not in rest.partition('class="list')[2].partition('name="back"')[0]


@pytest.mark.parametrize(
    ("tests", "found"),
    [
        ([("n", "is", "5")], {"five", "five as text"}),
        ([("n", "gte", "5")], {"five", "nine"}),
        ([("n", "gte", "5"), ("n", "lte", "8")], {"five"}),
        ([("tags", "is", "red")], {"five", "nine"}),
        ([("tags", "in", "blue, none")], {"nine"}),
        ([("tags", "prefix", "bl")], {"nine"}),
        ([("who.name", "contains", "d")], {"nine"}),
        ([("who", "exists", "")], {"nine"}),
        ([("tags", "missing", "")], {"five as text", "bare"}),
        ([("on", "is", "true")], {"bare"}),
        ([("", "is", "5")], {"five", "nine", "five as text", "bare"}),
    ],
)
def test_metadata_filters(open_site, tests, found):
    site = open_site()
    site.sign_in()
    save(site, "five", metadata={"n": 5, "tags": ["red"]})
    save(site, "nine", metadata={"n": 9, "tags": ["red", "blue"], "who": {"name": "Ada"}})
    save(site, "five as text", metadata={"n": "5"})
    save(site, "bare", metadata={"on": True})
    query = urlencode([pair for key, op, value in tests for pair in (("key", key), ("op", op), ("value", value))])
    assert set(list_names(site.get(f"{LIST}?{query}").text)) == found


def test_a_filter_that_cannot_be_meant_is_explained(own):
    page = own.get(f"{LIST}?key=n&op=gte&value=5&key=n&op=gte&value=6")
    assert page.status_code == 400
    assert "A key can have each condition once" in page.text
    assert page.text.count('name="key" value="n"') == 2, "what was typed stays"


def test_a_search_shows_scores_and_why(own):
    memo = save(own, "The budget meeting moved to Friday.", title="Meeting", metadata={"tags": ["work"]})
    other = save(own, "Water the tomatoes.")
    text = own.get(f"{LIST}?q=budget&expect={LIST}/{other}").text
    assert list_names(text) == ["Meeting"]
    assert "The <mark>budget</mark> meeting" in text
    assert re.search(r'aria-label="Words 0\.\d\d"', text)
    assert "it contains no word of the query" in text
    assert f'href="{LIST}/{memo}/edit"' in text


def test_a_thread_is_shown_as_it_was_written(own):
    ids = [save(own, f"part {number}", thread="a & b") for number in range(3)]
    assert list_names(own.get(f"{LIST}?{urlencode({'thread': 'a & b'})}").text) == ["part 0", "part 1", "part 2"]
    page = own.get(f"{LIST}/{ids[1]}").text
    assert page.index("part 0") < page.index("part 2")
    assert f'href="{LIST}/{ids[0]}"' in page
    assert "thread=a+%26+b" in page


def test_a_new_memo(own):
    form = {"title": "Pump", "content": "# The pump\r\n\r\nneeds a *seal*", "namespace": "garden", "thread": "t"}
    status, path = send(own, f"{LIST}/new", **form, metadata='{"tags": ["water"]}', date="2026-11-01")
    assert status == 303
    page = own.get(path).text
    assert "Saved." in page
    assert "<em>seal</em>" in page
    memo = own.call("memory", "get", memo_id=path.partition("?")[0].rpartition("/")[2], namespace="/")
    assert memo["content"] == "# The pump\n\nneeds a *seal*"
    assert (memo["namespace"], memo["thread"], memo["date"]) == ("/garden", "t", "2026-11-01")
    assert memo["metadata"] == {"tags": ["water"]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"metadata": "{tags}"}, "must be a JSON object"),
        ({"metadata": "[1]"}, "must be a JSON object"),
        ({"content": "  "}, "content is empty"),
        ({"date": "soon"}, "must be a day like"),
        ({"valid_from": "2027-01-02", "valid_until": "2027-01-01"}, "is before valid_from"),
        ({"supersedes": "nothing"}, "not found"),
    ],
)
def test_what_was_typed_stays_where_it_cannot_be_saved(open_site, wrong, said):
    site = open_site()
    site.sign_in()
    form = {"content": "kept text", "title": "kept title", **wrong}
    answer = site.post(f"{LIST}/new", {"token": site.find_token(), **form})
    assert (answer.status_code, said in answer.text) == (400, True)
    typed = read_form(answer.text)
    assert {name: typed[name] for name in form} == form
    assert site.call("memory", "list", namespace="/")["items"] == []


def test_an_edit_sends_only_what_was_changed(own):
    memo = save(own, "text", title="old", metadata={"a": 1, "b": 2}, thread="t", date="2026-11-01", namespace="/x")
    form = read_form(own.get(f"{LIST}/{memo}/edit").text)
    status, _ = send(own, f"{LIST}/{memo}/edit", **{**form, "title": "", "metadata": '{"b": 3}', "date": ""})
    assert status == 303
    stored = own.call("memory", "get", memo_id=memo, namespace="/")
    assert "title" not in stored
    assert "date" not in stored
    assert (stored["content"], stored["metadata"], stored["thread"]) == ("text", {"b": 3}, "t")
    version = stored["version"]
    send(own, f"{LIST}/{memo}/edit", **read_form(own.get(f"{LIST}/{memo}/edit").text))
    assert own.call("memory", "get", memo_id=memo, namespace="/")["version"] == version, "nothing was changed"


def test_a_preview_saves_nothing(own):
    memo = save(own, "text")
    form = {**read_form(own.get(f"{LIST}/{memo}/edit").text), "content": "**bold** <b>", "do": "preview"}
    answer = own.post(f"{LIST}/{memo}/edit", {"token": own.find_token(), **form})
    assert answer.status_code == 200
    assert "<strong>bold</strong> &lt;b&gt;" in answer.text
    assert own.call("memory", "get", memo_id=memo)["content"] == "text"


def test_a_change_in_the_meantime_shows_both_texts(own):
    memo = save(own, "first\nshared")
    form = read_form(own.get(f"{LIST}/{memo}/edit").text)
    own.call("memory", "save", memo_id=memo, content="theirs\nshared")
    answer = own.post(f"{LIST}/{memo}/edit", {"token": own.find_token(), **form, "content": "mine\nshared"})
    assert answer.status_code == 409
    assert "<del>- theirs</del>" in answer.text
    assert "<ins>+ mine</ins>" in answer.text
    assert own.call("memory", "get", memo_id=memo)["content"] == "theirs\nshared"
    again = read_form(answer.text)
    assert again["content"] == "mine\nshared"
    status, _ = send(own, f"{LIST}/{memo}/edit", **again)
    assert (status, own.call("memory", "get", memo_id=memo)["content"]) == (303, "mine\nshared")


def test_masks_are_not_saved_by_accident(own):
    memo = save(own, "write to [masked:email] soon")
    form = read_form(own.get(f"{LIST}/{memo}/edit").text)
    assert send(own, f"{LIST}/{memo}/edit", **{**form, "title": "only this"})[0] == 303
    form = read_form(own.get(f"{LIST}/{memo}/edit").text)
    status, text = send(own, f"{LIST}/{memo}/edit", **{**form, "content": "write to [masked:email] now"})
    assert (status, "the masks replace what they hide" in text) == (400, True)
    form = {**read_form(text), "masked": "1"}
    assert send(own, f"{LIST}/{memo}/edit", **form)[0] == 303
    assert own.call("memory", "get", memo_id=memo)["content"] == "write to [masked:email] now"


def test_a_long_memo_is_edited_whole(own):
    content = "\n".join(f"line {number} " + "x" * 90 for number in range(2_500))
    memo = save(own, content)
    form = read_form(own.get(f"{LIST}/{memo}/edit").text)
    assert form["content"] == content
    assert send(own, f"{LIST}/{memo}/edit", **{**form, "content": f"{content}\nend"})[0] == 303
    page = own.get(f"{LIST}/{memo}/history?old=1&new=2").text
    assert page.count("<ins>") == 1
    assert "<ins>+ end</ins>" in page


def test_versions_are_compared_and_restored(own):
    memo = save(own, "one\nsame", title="first")
    own.call("memory", "save", memo_id=memo, content="two\nsame")
    own.call("memory", "save", memo_id=memo, content="three\nsame", title="third")
    page = own.get(f"{LIST}/{memo}/history?old=3&new=1&version=1").text
    assert "From version 1 to 3" in page
    assert {"<del>- one</del>", "<ins>+ three</ins>", "<ins>+ title: third</ins>"} <= set(
        re.findall(r"<(?:ins|del)>.*", page)
    )
    assert page.count("owner") > 3
    status, path = send(own, f"{LIST}/{memo}/history", version="1", expected="3")
    assert (status, "restored" in path) == (303, True)
    stored = own.call("memory", "get", memo_id=memo)
    assert (stored["content"], stored["title"], stored["version"]) == ("one\nsame", "first", 4)
    status, text = send(own, f"{LIST}/{memo}/history", version="2", expected="3")
    assert (status, "Nothing was restored" in text) == (409, True)
    assert own.get(f"{LIST}/{memo}@2").headers["location"] == f"{LIST}/{memo}/history?version=2"


def test_duplicates_are_merged(own):
    kept = save(own, "Water the tomatoes every evening, except when it rains.", metadata={"a": 1})
    other = save(own, "Water the tomatoes every evening except when it rained.", metadata={"b": 2})
    page = own.get(f"{LIST}/duplicates?level=0.7").text
    found = re.search(r'href="(/admin/memory/merge[^"]+)"', page)
    assert found is not None
    side_by_side = own.get(found[1].replace("&amp;", "&")).text
    assert side_by_side.count('name="keep"') == 2
    ids = {"id": [kept, other], f"version-{kept}": "1"}
    assert send(own, f"{LIST}/merge", **ids)[0] == 400
    status, path = send(own, f"{LIST}/merge", **ids, keep=kept, text="join")
    assert (status, path) == (303, f"{LIST}/{kept}?notice=merged")
    stored = own.call("memory", "get", memo_id=kept)
    assert stored["metadata"] == {"a": 1, "b": 2}
    assert stored["content"].endswith("when it rained.")
    gone = own.get(f"{LIST}/{other}").text
    assert "This memo was merged into" in gone
    assert send(own, f"{LIST}/{other}/history", version="", expected="2")[0] == 303
    assert own.call("memory", "get", memo_id=other)["metadata"] == {"b": 2}


def test_a_merge_leaves_alone_what_was_taken_out(own):
    ids = [save(own, f"memo {number}") for number in range(3)]
    form = {"id": ids, "keep": ids[0], f"out-{ids[2]}": "1"}
    assert send(own, f"{LIST}/merge", **form)[0] == 303
    assert own.call("memory", "get", memo_id=ids[2])["content"] == "memo 2"
    with pytest.raises(Missing):
        own.call("memory", "get", memo_id=ids[1])


def test_several_move_or_go_to_the_trash(own):
    ids = [save(own, f"memo {number}", namespace="/a") for number in range(3)]
    back = f"{LIST}?namespace=%2Fa"
    assert send(own, f"{LIST}/bulk", do="move", back=back) == (303, f"{back}&notice=none_chosen")
    status, text = send(own, f"{LIST}/bulk", id=ids[:2], do="move", back=back)
    assert (status, "Memos to move: 2" in text) == (200, True)
    assert own.call("memory", "get", memo_id=ids[0], namespace="/")["namespace"] == "/a", "asked first"
    status, text = send(own, f"{LIST}/bulk", id=ids[:2], do="move", back=back, confirmed="1", to="")
    assert (status, "Give the namespace" in text) == (400, True)
    assert send(own, f"{LIST}/bulk", id=ids[:2], do="move", back=back, confirmed="1", to="b/c")[0] == 303
    assert own.call("memory", "get", memo_id=ids[1], namespace="/")["namespace"] == "/b/c"
    status, text = send(own, f"{LIST}/bulk", id=ids, do="trash", back="//evil.example/")
    assert (status, "evil" in text) == (200, False)
    assert send(own, f"{LIST}/bulk", id=[*ids, "none"], do="trash", back=back, confirmed="1")[0] == 400
    assert own.call("memory", "list", namespace="/")["items"] == []
    assert len(list_names(own.get(f"{LIST}/trash").text)) == 3
    assert send(own, f"{LIST}/bulk", id=ids[:1], do="restore", back=f"{LIST}/trash")[0] == 303
    assert [each["memo_id"] for each in own.call("memory", "list", namespace="/")["items"]] == ids[:1]


def test_the_trash_is_purged_in_two_steps_by_the_owner(own):
    ids = [save(own, f"memo {number}") for number in range(2)]
    own.call("memory", "delete", memo_id=ids[0])
    assert "1 deleted and 0 expired" in own.get(f"{LIST}/purge?days=0").text
    assert "0 deleted and 0 expired" in own.get(f"{LIST}/purge?days=30").text
    assert send(own, f"{LIST}/purge", days="0")[0] == 400
    assert send(own, f"{LIST}/purge", days="-1", sure="1")[0] == 400
    assert len(own.call("memory", "list", namespace="/", state="trash")["items"]) == 1
    assert send(own, f"{LIST}/purge", days="0", sure="1")[0] == 303
    assert own.call("memory", "list", namespace="/", state="trash")["items"] == []
    own.add_person("ada")
    own.cookies.clear()
    own.sign_in("ada")
    assert own.get(f"{LIST}/purge").status_code == 403
    assert send(own, f"{LIST}/purge", days="0", sure="1")[0] == 403
    assert f"{LIST}/purge" not in own.get(f"{LIST}/trash").text


def test_relations_are_added_and_removed(own):
    one, other = save(own, "one", namespace="/a/b"), save(own, "other", namespace="/a/c")
    here = f"{LIST}/{one}"
    form = {"do": "add", "target": f"http://x/admin/memory/{other}?notice=saved", "tag": "causes", "reason": "because"}
    assert send(own, f"{here}/relations", **form, weight="2")[0] == 400
    assert send(own, f"{here}/relations", **form, weight="0.5", direction="from")[0] == 303
    page = own.get(here).text
    assert "because" in page
    assert "0.50" in page
    edge = own.call("memory", "relation.list", namespace="/")["edges"][0]
    assert (edge["sourceMemoId"], edge["targetMemoId"], edge["namespace"]) == (other, one, "/a")
    removed = {"source": other, "target": one, "tag": "causes", "namespace": "/a"}
    assert send(own, f"{here}/relations", do="remove", **removed)[0] == 303
    assert own.call("memory", "relation.list", namespace="/")["edges"] == []
    status, text = send(own, f"{here}/relations", do="remove", **removed)
    assert (status, "Relation not found" in text) == (400, True)


def test_a_memo_replaces_another(own):
    old = save(own, "the office is in Osaka")
    status, path = send(own, f"{LIST}/new", content="the office is in Tokyo", supersedes=old)
    assert status == 303
    assert "A newer memo replaces this one" in own.get(f"{LIST}/{old}").text
    new = path.partition("?")[0]
    assert f'href="{LIST}/{old}"' in own.get(new).text
    assert send(own, f"{new}/relations", do="unmark")[0] == 303
    assert "A newer memo" not in own.get(f"{LIST}/{old}").text
    assert send(own, f"{new}/relations", do="replace", replaced=old)[0] == 303
    assert "A newer memo" in own.get(f"{LIST}/{old}").text


def test_a_person_who_may_only_read_changes_nothing(own):
    memo = save(own, "text", namespace="/team")
    own.add_person("ada", reach=Reach("/team", "/team", None, frozenset({"*:write", "*:destroy"}), frozenset()))
    own.cookies.clear()
    own.sign_in("ada")
    assert own.get(f"{LIST}/{memo}").status_code == 200
    form = read_form(own.get(f"{LIST}/{memo}/edit").text)
    assert send(own, f"{LIST}/{memo}/edit", **{**form, "content": "changed"})[0] in (400, 403, 404)
    assert send(own, f"{LIST}/bulk", id=memo, do="trash", confirmed="1")[0] in (400, 403, 404)
    assert own.call("memory", "get", memo_id=memo, namespace="/")["content"] == "text"


def test_a_query_is_shown_as_text(own):
    hostile = '"><script>alert(1)</script>'
    query = urlencode([*((name, hostile) for name in ("q", "thread", "since", "expect", "key", "value")), ("op", "is")])
    for path in (f"{LIST}?{query}", f"{LIST}/new?{urlencode({'content': hostile, 'title': hostile})}"):
        assert "<script>alert" not in own.get(path).text


def test_all_threads_are_listed_last_changed_first(own):
    for number in range(52):
        own.call("memory", "save", content=f"memo {number}", thread=f"talk {number:02}", namespace="/work")
    own.call("memory", "save", content="again", thread="talk 05", namespace="/work")
    own.call("memory", "save", content="elsewhere", thread="<b>other</b>", namespace="/private")
    own.call("memory", "save", content="without a thread")
    page = own.get(f"{LIST}/threads").text
    names = re.findall(r'<a data-item href="[^"]+">([^<]+)</a>', page)
    assert {"&lt;b&gt;other&lt;/b&gt;", "talk 05"} <= set(names)
    assert (len(names), "Memos: 2" in page) == (50, True)
    (more,) = re.findall(r'href="(/admin/memory/threads\?[^"]*cursor=[^"]+)"', page)
    rest = re.findall(r'<a data-item href="[^"]+">([^<]+)</a>', own.get(more.replace("&amp;", "&")).text)
    assert (len(rest), len({*names, *rest})) == (3, 53)
    inside = own.get(f"{LIST}/threads?namespace=/private").text
    assert "talk 51" not in inside
    (href,) = re.findall(r'<a data-item href="([^"]+)">', inside)
    assert "elsewhere" in own.get(href.replace("&amp;", "&")).text
    assert own.get(f"{LIST}/threads?namespace=%00").status_code == 400
    assert own.get(f"{LIST}/threads?cursor=wrong").status_code == 400
