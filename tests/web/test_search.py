"""The search page: hits with the parts of their scores, facets, filters, and why a record is not among the hits."""

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from web.payloads import PAYLOADS

from tokonoma.core.reach import Reach


@pytest.fixture
def filled(site):
    site.sign_in()
    for content, namespace, title in (
        ("The meeting is on Friday; bring the budget.", "/work", "Tokyo meeting"),
        ("Deploys happen after the meeting.", "/work/ops", "Deploy"),
        ("歯医者の予約は火曜日の三時。", "/home", "歯医者"),
    ):
        site.call("memory", "save", content=content, namespace=namespace, title=title)
    site.call("items", "create_item", type="issue", title="Prepare the meeting")
    return site


def search(site, **parameters) -> str:
    page = site.get(f"/admin/search?{urlencode(parameters, doseq=True)}")
    assert page.status_code == 200, page.text
    return page.text


def list_titles(text: str) -> list[str]:
    found = re.findall(r'<p class="title"><a href="[^"]+">(.*?)</a>', text)
    return sorted(re.sub("<[^>]+>", "", each) for each in found)


def test_hits_of_all_modules_have_marks_bars_and_facets(filled):
    text = search(filled, query="meeting")
    assert list_titles(text) == ["Deploy", "Prepare the meeting", "Tokyo meeting"]
    assert "3 found" in text
    assert "The <mark>meeting</mark> is on Friday" in text
    assert text.count('aria-label="words ') == 3
    assert re.search(r'module=items[^"]*">items <small>1</small>', text)
    assert re.search(r'namespace=%2Fwork%2Fops">/work/ops <small>1</small>', text)
    assert re.search(r'kind=issue">issue <small>1</small>', text)
    assert "It holds 100 % of the query." in text


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        ({"module": ["items"]}, ["Prepare the meeting"]),
        ({"module": ["items", "memory"], "namespace": "/work"}, ["Deploy", "Tokyo meeting"]),
        ({"namespace": "/work/ops"}, ["Deploy"]),
        ({"kind": "issue"}, ["Prepare the meeting"]),
        ({"until": "2020-01-01"}, []),
        ({"since": "2020-01-01", "kind": "fact"}, []),
    ],
)
def test_filters_narrow_the_search(filled, filters, titles):
    text = search(filled, query="meeting", **filters)
    assert list_titles(text) == titles
    assert "Without filters" in text
    assert ("Nothing fits with these filters" in text) == (titles == [])


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"expect": "no such title"}, "There is no such record for you."),
        ({"expect": "tokonoma://memory/01a1ecf3-8532-7002-93a4-4c36d93af449"}, "There is no such record for you."),
        ({"expect": "tokonoma://"}, "There is no such record for you."),
        ({"expect": "Deploy"}, "It is here, at place"),
        ({"expect": "歯医者"}, "It is not among the"),
        ({"expect": "Deploy", "namespace": "/home"}, 'bad-tag">Namespace<'),
        ({"expect": "Deploy", "module": "items"}, 'bad-tag">Modules<'),
        ({"expect": "Deploy", "since": "2100-01-01"}, 'bad-tag">Since<'),
        ({"expect": "Deploy", "until": "2000-01-01"}, 'bad-tag">Until<'),
        ({"expect": "Deploy", "kind": "issue"}, 'bad-tag">Kind<'),
    ],
)
def test_the_page_says_why_a_record_is_not_there(filled, parameters, says):
    text = search(filled, query="meeting", **parameters)
    found = re.search(r'id="expected">(.*?)</div>', text, re.DOTALL)
    assert found is not None
    assert says in found[1]


def test_a_leg_that_misses_is_named(filled):
    text = search(filled, query="meeting", expect="歯医者")
    legs = re.findall(r"<dt>(By [a-z]+ alone)</dt>\s*<dd>(.*?)\s*</dd>", text, re.DOTALL)
    assert legs == [
        ("By words alone", "does not find it"),
        ("By meaning alone", "not compared: no embedding model is set"),
    ]


def test_a_record_further_down_has_its_place(filled):
    for number in range(60):
        filled.call("memory", "save", content=f"meeting meeting meeting {number}", title=f"Meeting {number}")
    filled.call("memory", "save", content="A long text about many other things. " * 30 + "meeting", title="Far down")
    text = search(filled, query="meeting", expect="Far down")
    assert re.search(r"It stands further down, at place 6\d of 6\d", text)
    assert "The best 50" in text
    assert len(list_titles(text)) == 20
    assert len(list_titles(search(filled, query="meeting", all="1"))) == 50


def test_what_a_person_may_not_see_does_not_exist(filled):
    memo = filled.call("memory", "list", namespace="/home")["items"][0]["memo_id"]
    filled.add_person("ada", reach=Reach("/work", "/work", frozenset({"memory"}), frozenset(), frozenset()))
    filled.cookies.clear()
    filled.sign_in("ada")
    assert list_titles(search(filled, query="meeting")) == ["Deploy", "Tokyo meeting"]
    for expect in ("歯医者", f"tokonoma://memory/{memo}", "Prepare the meeting"):
        assert "There is no such record for you." in search(filled, query="meeting", expect=expect)
    assert 'namespace=%2Fops">/ops' in search(filled, query="meeting")


def test_a_mistake_is_said_beside_the_form(filled):
    page = filled.get("/admin/search?query=meeting&since=yesterday")
    assert page.status_code == 400
    assert "is no time" in page.text
    assert 'value="meeting"' in page.text
    assert filled.get("/admin/search?query=meeting&module=nothing").status_code == 404


def test_without_a_query_the_page_says_what_to_write(filled):
    text = search(filled)
    assert "Write what you look for" in text
    assert re.findall(r'name="module" value="([a-z]+)"', text) == ["memory", "items", "claims", "manual", "vault"]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, [name for name, _ in attrs]))


def test_what_was_asked_is_only_ever_text(filled):
    def list_tags(value: str) -> list[tuple[str, list[str]]]:
        parser = Tags()
        given = {"query": f"meeting {value}", "expect": value, "kind": value}
        parser.feed(filled.get(f"/admin/search?{urlencode(given)}").text)
        return [(tag, names) for tag, names in parser.found if tag != "mark"]

    expected = list_tags("zzz")
    for payload in PAYLOADS:
        assert list_tags(payload) == expected, payload
