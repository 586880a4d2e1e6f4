"""Folders of notes: Obsidian and basic-memory."""

import os

import pytest
from transfer.reading import files, own_metadata, read

from tokonoma.transfer.files import as_time

TEA = """---
title: お茶の記録
tags: [茶, "#tea"]
aliases: [Chanoyu, 茶の湯]
created: 2024-01-15T10:00:00+09:00
up: "[[Home]]"
related:
  - "[[notes/Scroll]]"
  - "[[Nobody]]"
rating: 4.5
---

# お茶

The [[Scroll|hanging scroll]] and ![[bowl.png]], see [[Home#Top]] and [[Missing note]].
Also [the scroll](../notes/Scroll.md), #daily/log and `[[not a link]]`.
"""


@pytest.fixture
def vault(tmp_path):
    root = tmp_path / "Work"
    files(root, Home="Start: [[茶の湯]] and [[Home]] itself", notes__Tea=TEA, notes__Scroll="軸。→ [[tea]]", empty="")
    files(root, **{"bowl.png": b"\x89PNG\0", ".obsidian__app.md": "settings", ".trash__old.md": "gone"})
    return root


def test_obsidian(vault):
    told = read(vault)
    assert told.format == "obsidian"
    assert set(told.memos) == {"Home.md", "notes/Tea.md", "notes/Scroll.md", "empty.md"}
    tea = told.memos["notes/Tea.md"]
    assert (tea.title, tea.namespace) == ("お茶の記録", "/notes")
    assert tea.content.startswith("# お茶\n\nThe [[Scroll|")
    assert tea.created_at == as_time("2024-01-15T01:00:00Z")
    assert (tea.updated_at or 0) >= (tea.created_at or 0)
    assert own_metadata(tea) == {
        "up": "[[Home]]",
        "related": ["[[notes/Scroll]]", "[[Nobody]]"],
        "rating": 4.5,
        "tags": ["茶", "tea", "daily/log"],
        "aliases": ["Chanoyu", "茶の湯"],
        "missing_links": [{"target": "Nobody", "tag": "related"}, {"target": "Missing note", "tag": "links_to"}],
        "attachments": ["bowl.png"],
    }
    assert told.memos["empty.md"].content == "empty"
    assert sorted(told.relations) == [
        ("Home.md", "notes/Tea.md", "links_to"),
        ("notes/Scroll.md", "notes/Tea.md", "links_to"),
        ("notes/Tea.md", "Home.md", "links_to"),
        ("notes/Tea.md", "Home.md", "up"),
        ("notes/Tea.md", "notes/Scroll.md", "links_to"),
        ("notes/Tea.md", "notes/Scroll.md", "related"),
    ]
    assert told.lost == []
    assert [(place, "Missing note" in why) for place, why in told.notes if "Missing" in why] == [
        ("notes/Tea.md:15", True)
    ]
    assert any("1 .png" in why for _, why in told.notes)


def test_relations_lie_where_both_ends_are(vault):
    spaces = {each.place: each.namespace for each in read(vault, namespace="/mine").carried if hasattr(each, "tag")}
    assert set(spaces.values()) == {"/mine", "/mine/notes"}


def test_ids_are_the_same_every_time_and_differ_by_source_and_place(vault):
    ids = [
        {memo.memo_id for memo in read(vault, **more).memos.values()}
        for more in ({}, {}, {"name": "other"}, {"namespace": "/x"}, {"kind": "basic-memory"})
    ]
    assert ids[0] == ids[1]
    assert all(not ids[0] & other for other in ids[2:])


NOTE = """---
title: Search Design
type: spec
permalink: specs/search-design
tags: search, index
status: active
---
# Search Design

- [decision] Words first #fts (measured)
- [ ] a task
- implements [[Storage]] (the index)
- "builds on" [[specs/core-design]]
- extends [[Not yet written]]

It follows [[core design]].
"""


def test_basic_memory(tmp_path):
    core = "---\ntitle: Core Design\ntype: note\npermalink: specs/core-design\n---\n- relates_to [[search-design]]\n"
    files(tmp_path, specs__search=NOTE, specs__core=core, Storage="---\ntype: note\npermalink: storage\n---\nSQLite")
    told = read(tmp_path)
    assert told.format == "basic-memory"
    note = told.memos["specs/search.md"]
    assert (note.title, note.namespace) == ("Search Design", "/specs")
    assert "- implements [[Storage]] (the index)" in note.content
    assert own_metadata(note) == {
        "type": "spec",
        "permalink": "specs/search-design",
        "status": "active",
        "tags": ["search", "index", "fts"],
        "categories": ["decision"],
        "missing_links": [{"target": "Not yet written", "tag": "extends"}],
    }
    assert sorted(told.relations) == [
        ("specs/search.md", "Storage.md", "implements"),
        ("specs/search.md", "specs/core.md", "builds on"),
        ("specs/search.md", "specs/core.md", "links_to"),
    ]
    (reason,) = [each.reason for each in told.carried if getattr(each, "tag", "") == "implements"]
    assert reason == "the index"
    assert told.memos["specs/core.md"].metadata["missing_links"] == [{"target": "search-design", "tag": "relates_to"}]


def test_links_find_the_note_that_is_meant(tmp_path):
    files(
        tmp_path,
        a__Note="in a",
        b__Note="in b",
        a__From="[[Note]]",
        b__deep__From="[[Note]] [[a/Note]] [[../Note]] [here](./Other.md)",
        b__deep__Other="x",
        Via="[[OTHER]] [[か\u3099]]",
        が="composed",
    )
    assert sorted(read(tmp_path, "obsidian").relations) == [
        ("Via.md", "b/deep/Other.md", "links_to"),
        ("Via.md", "が.md", "links_to"),
        ("a/From.md", "a/Note.md", "links_to"),
        ("b/deep/From.md", "a/Note.md", "links_to"),
        ("b/deep/From.md", "b/Note.md", "links_to"),
        ("b/deep/From.md", "b/deep/Other.md", "links_to"),
    ]


def test_one_file_alone(tmp_path):
    files(tmp_path, one="# One\n[[Two]]", two="x")
    told = read(tmp_path / "one.md")
    assert list(told.memos) == ["one.md"]
    assert [why for _, why in told.notes if "leads to no note" in why]


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path):
    root = tmp_path / "vault"
    files(
        root,
        good="fine",
        sjis="日本語のメモ".encode("cp932"),
        utf16="\ufeff日本語".encode("utf-16-le"),
        binary=b"\x89PNG\0\0",
        latin=b"caf\xe9\xff",
        bomb="---\na: &a [x]\nb: [*a, *a]\n---\nbody",
        broken="---\na: [\n---\nbody",
    )
    (tmp_path / "secret.md").write_text("outside")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.md")
    (root / "huge.md").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    told = read(root, "obsidian")
    assert {place: why.split(".")[0] for place, why in told.lost} == {
        "binary.md": "It is not text (it contains NUL bytes)",
        "latin.md": "It is not UTF-8 (byte 3), and not Shift_JIS",
        "link.md": "It is a symbolic link, which is not followed",
        "folder": "It is a symbolic link, which is not followed",
        "pipe.md": "It is not a file",
        "huge.md": "It has more than 16 MiB",
    }
    assert set(told.memos) == {"good.md", "sjis.md", "utf16.md", "bomb.md", "broken.md"}
    assert told.memos["sjis.md"].content == "日本語のメモ"
    assert told.memos["utf16.md"].content == "日本語"
    # Front matter that cannot be read stays in the text.
    assert told.memos["bomb.md"].content == "---\na: &a [x]\nb: [*a, *a]\n---\nbody"
    assert {place for place, _ in told.notes} == {"sjis.md", "utf16.md", "bomb.md", "broken.md"}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_named(tmp_path):
    files(tmp_path, good="fine", closed__x="hidden")
    (tmp_path / "closed").chmod(0)
    told = read(tmp_path, "obsidian")
    (tmp_path / "closed").chmod(0o700)
    assert [place for place, _ in told.lost] == ["closed/"]
    assert list(told.memos) == ["good.md"]


def test_a_name_that_is_no_text_is_named(tmp_path):
    files(tmp_path, good="fine")
    (tmp_path / os.fsdecode(b"\xff.md")).write_text("x")
    told = read(tmp_path, "obsidian")
    assert [why for _, why in told.lost] == ["Its name is not text."]


def test_the_date_of_a_note_is_in_its_front_matter_or_its_name(tmp_path):
    files(
        tmp_path,
        **{
            "a.md": "---\ndate: 2024-03-05\n---\nThe roof was mended",
            "2023-11-02.md": "Rain all day",
            "b.md": "---\ndate: some day\n---\nNo date",
            "c.md": "---\ndate: 2024-03-05T09:00:00+09:00\n---\nA time",
        },
    )
    told = {memo.content: memo for memo in read(tmp_path, "obsidian").memos.values()}
    assert {content: memo.date for content, memo in told.items()} == {
        "The roof was mended": "2024-03-05",
        "Rain all day": "2023-11-02",
        "No date": "",
        "A time": "2024-03-05T00:00:00.000Z",
    }
    assert told["The roof was mended"].metadata["date"] == "2024-03-05"  # for filters, as before
