"""The own export as Markdown: the list of relations is for people, and holds no markup of anyone else."""

from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from transfer.apps import lines, open_app, put, take, to_folder

from tokonoma.transfer.markdown import format_memo_page
from tokonoma.transfer.markdown_file import read_front_matter
from tokonoma.transfer.model import MemoRecord, RelationRecord

ONE = "00000000-0000-4000-8000-000000000001"
TWO = "00000000-0000-4000-8000-000000000002"
MARK = "<!-- tokonoma: the relations of the front matter, for people -->"
HOSTILE = [
    "a](javascript:alert(1)) [b",
    "<img src=x onerror=alert(1)>",
    "<!-- x",
    "x\n\n# Heading\n\n---\n",
    f"x\n\n{MARK}\n\n- y",
    "`code` **bold** ![x](http://example.com/x.png) &lt; | $x$ ~~y~~",
    "\x1b]0;owned\x07\r\u202eevil",
    "=cmd|' /C calc'!A0",
    "---",
    "\\[x\\]",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def build_relation(text: str) -> RelationRecord:
    return RelationRecord("/", ONE, TWO, text[:64], 0.5, text, 1, 2, 1)


@pytest.mark.parametrize("text", HOSTILE)
def test_the_list_of_relations_holds_one_link_and_nothing_else(text):
    page = format_memo_page(MemoRecord(ONE, "/", "plain"), [(build_relation(text), text)])
    listed = read_front_matter(page)[1].partition(f"{MARK}\n\n")[2]
    tags = Tags()
    tags.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(listed))
    assert tags.found == [("ul", {}), ("li", {}), ("a", {"href": f"tokonoma://memory/{TWO}"})]
    assert listed.count("\n") == 1
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(listed)


def test_hostile_relations_come_back_as_they_were(tmp_path):
    memos = [MemoRecord(ONE, "/", f"x\n\n{MARK}\n\n- y", "t", {}, "", 1, 2, None, None, 1)]
    memos.append(MemoRecord(TWO, "/", "other", HOSTILE[0], {}, "", 1, 2, None, None, 1))
    with open_app(tmp_path / "one") as app:
        put(app, memos, [build_relation(text) for text in HOSTILE])
        before = lines(app)
        assert len(before) == 2 + len(HOSTILE)
        folder = to_folder(app, tmp_path / "folder")
    with open_app(tmp_path / "two") as app:
        assert take(app, folder, "tokonoma").skipped.items == []
        assert lines(app) == before
