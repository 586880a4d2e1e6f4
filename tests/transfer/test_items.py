"""An item as a Markdown file, and back: to the letter, whatever it says; and whether somebody edited it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.transfer.items import build_file_name, compute_digest, format_page, is_page, parse_page
from tokonoma.transfer.model import SourceError

text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
line = text.filter(lambda each: each.strip())
link = st.fixed_dictionaries({"to": line, "kind": st.sampled_from(["related", "blocks"])}, optional={"uid": line})
comment = st.fixed_dictionaries({"at": st.integers(0, 10**12), "by": text, "text": line})
times = st.none() | st.integers(0, 4_000_000_000_000)
items = st.fixed_dictionaries({
    "uid": st.uuids().map(str), "id": st.integers(1, 2**53), "namespace": st.just("/"),
    "type": st.sampled_from(["a", "docs"]),
    "title": line, "description": text, "content": text | st.text("-\n\r# a", max_size=30), "status": st.just("Open"),
    "priority": st.just("LOW"), "category": text, "start_at": times, "end_at": times, "version": text,
    "tags": st.lists(line, max_size=3), "links": st.lists(link, max_size=3), "aliases": st.lists(line, max_size=2),
    "created_at": st.integers(0, 10**12), "updated_at": st.integers(0, 10**12), "deleted_at": times,
    "created_by": line, "updated_by": line, "revision": st.integers(1, 1000), "assignee": text,
    "comments": st.lists(comment, max_size=2),
})  # fmt: skip


def there_and_back(item):
    return parse_page(format_page(item).encode().decode(), "x.md")


@given(items)
def test_a_page_says_everything_and_is_read_back_to_the_letter(item):
    told = there_and_back(item)
    assert told.pop("edited") is False
    filled = {**dict.fromkeys(item), **dict.fromkeys(("description", "category", "version", "assignee"), ""), **told}
    assert filled == item


@given(items, line)
def test_an_edit_shows(item, other):
    if other != item["content"]:
        assert parse_page(format_page(item).replace("digest:", f"digest: 0 #{item['id']}\n#"), "x.md")["edited"] is True
        assert compute_digest({**item, "content": other}) != compute_digest(item)


@given(items)
def test_lines_that_git_has_turned_are_turned_back(item):
    if "\r" not in format_page(item):
        turned = format_page(item).replace("\n", "\r\n")
        assert is_page(turned)
        assert parse_page(turned, "x.md")["edited"] is False


@given(line)
def test_file_names_are_names(title):
    name = build_file_name({"type": "docs", "id": 3, "title": title})
    assert name.startswith("docs/3 ")
    assert name.count("/") == 1
    assert len(name.encode()) < 200


BAD = {
    "format": ("tokonoma_item: 2\ntype: a\ntitle: t", "format 2"),
    "no title": ("tokonoma_item: 1\ntype: a", "no title"),
    "tags": ("tokonoma_item: 1\ntype: a\ntitle: t\ntags: x", "tags is not a list"),
    "related": ("tokonoma_item: 1\ntype: a\ntitle: t\nrelated: [[1]]", "related"),
    "id": ("tokonoma_item: 1\ntype: a\ntitle: t\nid: -3", "id is not"),
    "time": ("tokonoma_item: 1\ntype: a\ntitle: t\nstart_date: soon", "start_date"),
    "yaml": ("tokonoma_item: 1\ntitle: [", "Line"),
}


@pytest.mark.parametrize(("block", "says"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_said(block, says):
    with pytest.raises(SourceError, match=says):
        parse_page(f"---\n{block}\n---\n", "x.md")
