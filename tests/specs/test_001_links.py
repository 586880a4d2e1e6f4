"""specs/001 over the wire: titles, front matter, links, links back, and files that move."""

import json
from pathlib import Path
from typing import Any

import pytest
from policy.houses import MASKING, enforce
from server.doors import Door
from talk import Lines, Talk

from tokonoma.files.tables import TABLES

PAGE = """---
title: "Horizontal scaling: the basics"
aliases: [/docs/autoscale/, Autoscaler_v2]
tags: [elasticity]
description: >-
  How replicas follow the load.
weight: 10
content_type: concept
---

<!-- overview -->

## `kubectl_scale` and max_replicas {#limits}
Text of limits. See [walk](/docs/tasks/walk/#step-two), [[walk#Step one|steps]] and ![[guide/other]].

`[no](../tasks/walk.md)` and [[nothing here]].

## Same
one

## Same
two
"""
WALK = """# Walk

## Step one
<a id="first-step"></a>Do it.

<a name="second"></a>
## Step two {#step-two}
[Back](../concepts/scaling.md#limits), [again](/docs/concepts/scaling/#same-1), [abs](/concepts/scaling.md),
[here](#first-step) and [there](../tasks/walk.md#second).
"""


@pytest.fixture
def talk(app) -> Talk:
    return Lines(app)


@pytest.fixture
def manuals(tmp_path) -> Path:
    folder = tmp_path / "home" / "workspace" / "manuals" / "k"
    for path, text in {
        "concepts/scaling.md": PAGE,
        "tasks/walk.md": WALK,
        "guide/other.md": "# Other\n[site](/en/docs/concepts/scaling/)\n",
        "broken.md": "---\ntitle: Broken: page\nword: xyzzy\n---\n# Heading\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def find(talk: Talk, query: str) -> dict[tuple[str, int], list[str]]:
    found = talk.call("manual", "find", query=query, manual_id="k")
    items = talk.call("manual", "hits", trace_id=found["trace_id"], limit=20)["items"]
    named = [item for item in items if item["score"] >= 0.6]
    return {(item["ref"]["path"], item["ref"]["start_line"]): item["signals"] for item in named}


def test_titles_keep_names_and_the_front_matter_names_the_page(talk, manuals):
    nodes = talk.call("manual", "toc", manual_id="k", path="concepts/scaling.md")["items"]
    assert [(node["title"], node["level"], node["line_start"]) for node in nodes] == [
        ("Horizontal scaling: the basics", 0, 1),
        ("kubectl_scale and max_replicas", 2, 13),
        ("Same", 2, 18),
        ("Same", 2, 21),
    ]
    assert "heading" in find(talk, "max_replicas")["concepts/scaling.md", 13]


def test_a_page_is_found_by_the_fields_of_its_front_matter(talk, manuals):
    for query in ("Horizontal scaling: the basics", "Autoscaler_v2", "autoscale"):
        assert "heading" in find(talk, query)["concepts/scaling.md", 1], query
    for query in ("elasticity", "replicas follow the load"):
        assert "heading" not in find(talk, query)["concepts/scaling.md", 1], query
    assert talk.call("manual", "read", ref={"manual_id": "k", "path": "concepts/scaling.md"})["start_line"] == 1


def test_other_fields_are_not_searched_and_a_broken_front_matter_is_text(talk, manuals):
    assert find(talk, "content_type") == {}
    assert "heading" in find(talk, "Broken: page")["broken.md", 1]
    assert ("broken.md", 1) in find(talk, "xyzzy")


def backlinks(talk: Talk, path: str, line: int | None = None, **more) -> list[tuple[str, int, list[int]]]:
    ref = {"manual_id": "k", "path": path, **({"start_line": line} if line else {})}
    items = talk.call("manual", "backlinks", ref=ref, **more)["items"]
    return [(each["ref"]["path"], each["ref"]["start_line"], [one["line"] for one in each["lines"]]) for each in items]


def test_backlinks_of_a_page_and_of_a_section(talk, manuals):
    assert backlinks(talk, "concepts/scaling.md") == [("tasks/walk.md", 7, [8])]
    assert backlinks(talk, "concepts/scaling.md", 14) == [("tasks/walk.md", 7, [8])]
    assert backlinks(talk, "concepts/scaling.md", 21) == [("tasks/walk.md", 7, [8])]
    assert backlinks(talk, "concepts/scaling.md", 18) == []
    assert backlinks(talk, "tasks/walk.md", 3) == [("concepts/scaling.md", 13, [14]), ("tasks/walk.md", 7, [9])]
    assert backlinks(talk, "tasks/walk.md", 7) == [("concepts/scaling.md", 13, [14])]
    assert backlinks(talk, "guide/other.md") == [("concepts/scaling.md", 13, [14])]
    (item,) = talk.call("manual", "backlinks", ref={"manual_id": "k", "path": "guide/other.md"})["items"]
    assert item["title"] == "kubectl_scale and max_replicas"
    assert item["lines"][0]["text"].startswith("Text of limits.")


def test_the_prefix_of_a_site(talk, manuals):
    (manuals / "manual.yml").write_text("link_prefix: [/docs/, /en/docs]\n")
    assert backlinks(talk, "concepts/scaling.md") == [("guide/other.md", 1, [2]), ("tasks/walk.md", 7, [8])]
    assert backlinks(talk, "concepts/scaling.md", 21) == [("tasks/walk.md", 7, [8])]
    (manuals / "manual.yml").write_text("link_prefix: docs\n")
    (item,) = talk.call("manual", "list")["items"]
    assert item["problems"] == ["manual.yml: link_prefix must start with /, like /docs/, or be a list of such texts"]


def test_references_are_followed_over_names_and_site_links(talk, manuals):
    found = talk.call("manual", "find", query="Text of limits", manual_id="k")
    items = talk.call("manual", "hits", trace_id=found["trace_id"], limit=20)["items"]
    signals = {(item["ref"]["path"], item["ref"]["start_line"]): item["signals"] for item in items}
    for target in [("tasks/walk.md", 3), ("tasks/walk.md", 7), ("guide/other.md", 1)]:
        assert "reference" in signals[target]


def test_backlinks_come_in_pages(talk, manuals):
    for number in range(60):
        (manuals / f"n{number:02}.md").write_text(f"# N{number}\n[[other]]\n")
    ref = {"manual_id": "k", "path": "guide/other.md"}
    first = talk.call("manual", "backlinks", ref=ref)
    assert (len(first["items"]), first["total"], first["has_more"]) == (50, 61, True)
    second = talk.call("manual", "backlinks", ref=ref, cursor=first["next_cursor"])
    paths = [item["ref"]["path"] for item in first["items"] + second["items"]]
    assert paths == ["concepts/scaling.md", *(f"n{number:02}.md" for number in range(60))]
    assert len(json.dumps(first)) < 10_000


@pytest.fixture
def root(app) -> Path:
    folder = Path(app.server_info.locations()["vault"])
    for path, text in {
        "tea.md": "---\ntitle: All about tea\naliases: [Ocha_page]\n---\nIntro. ![p](img/pot.png)\n\n## Steep\nHot.\n",
        "notes/day.md": "# Day\n[tea](../tea.md#steep) and [[tea]].\n\n## More\n[[TEA#Steep|x]] `[[tea]]`\n",
        "artifacts/daily/2026-01-02.md": "[tea](../../tea.md)\n",
        "img/pot.png": "no picture",
        "team/mine.md": "[tea](../tea.md)\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_a_file_of_the_vault_is_found_by_its_front_matter(talk, root):
    for query, signal in [("about tea", "heading"), ("Ocha_page", "heading"), ("Intro", "normalized")]:
        hits = talk.call("vault", "hits", trace_id=talk.call("vault", "find", query=query)["trace_id"])["items"]
        found = {(hit["ref"]["path"], hit["ref"]["start_line"]): hit for hit in hits}
        assert signal in found["tea.md", 1]["signals"]
        assert found["tea.md", 1]["title"] == "All about tea"


def test_files_indexed_before_the_update_are_indexed_again(app, talk, root):
    talk.call("vault", "ls")
    with app.database.writing() as statements:
        statements.run("delete from vault_part where path = 'tea.md'")
        for migration in (each for each in TABLES if each.name == "006_front_matter"):
            for sql in migration.statements:
                statements.run(sql)
    talk.call("vault", "ls")
    with app.database.reading() as rows:
        assert rows.rows("select address from vault_part where path = 'tea.md' order by address") == [
            ("tokonoma://vault/tea.md#L1-L6",), ("tokonoma://vault/tea.md#L7-L8",),
        ]  # fmt: skip


def vault_backlinks(talk: Talk, **params) -> list[tuple[str, int, list[int]]]:
    items = talk.call("vault", "backlinks", **params)["items"]
    return [(each["ref"]["path"], each["ref"]["start_line"], [one["line"] for one in each["lines"]]) for each in items]


def test_backlinks_in_the_vault(talk, root):
    assert vault_backlinks(talk, path="tea.md") == [
        ("artifacts/daily/2026-01-02.md", 1, [1]),
        ("notes/day.md", 1, [2]),
        ("notes/day.md", 4, [5]),
        ("team/mine.md", 1, [1]),
    ]
    assert vault_backlinks(talk, path="tea.md", heading="Steep") == [("notes/day.md", 1, [2]), ("notes/day.md", 4, [5])]
    assert vault_backlinks(talk, path="img/pot.png") == [("tea.md", 1, [5])]
    assert talk.refused("vault", "backlinks", path="no.md")["code"] == "not_found"
    assert talk.refused("vault", "backlinks", path="tea.md", heading="No")["code"] == "not_found"
    for number in range(60):
        (root / f"n{number:02}.md").write_text("[[tea]]\n")
    first = talk.call("vault", "backlinks", path="tea.md")
    second = talk.call("vault", "backlinks", path="tea.md", cursor=first["next_cursor"])
    assert (len(first["items"]), first["has_more"], len(second["items"]), second["has_more"]) == (50, True, 14, False)


def test_moving_a_file_changes_the_links_to_it(talk, root):
    moved = talk.call("vault", "move", from_path="tea.md", to_path="drinks/green tea.md")
    assert (moved["relinked"], moved["relinked_paths"]) == (3, ["drinks/green tea.md", "notes/day.md", "team/mine.md"])
    (kept,) = moved["not_relinked"]
    assert kept["path"] == "artifacts/daily/2026-01-02.md"
    assert "append-only" in kept["reason"]
    assert (root / "notes/day.md").read_text() == (
        "# Day\n[tea](../drinks/green%20tea.md#steep) and [[green tea]].\n\n## More\n[[green tea#Steep|x]] `[[tea]]`\n"
    )
    assert "![p](../img/pot.png)" in (root / "drinks/green tea.md").read_text()
    read = talk.call("vault", "read", path="drinks/green tea.md", full=True)
    assert (read["version"], read["text"]) == (moved["version"], (root / "drinks/green tea.md").read_text())
    past = talk.call("vault", "history", path="drinks/green tea.md")["items"]
    assert [(each["action"], each.get("moved_from")) for each in past] == [("relink", None), ("move", "tea.md")]
    (change,) = talk.call("vault", "history", path="notes/day.md")["items"]
    talk.call("vault", "restore", path="notes/day.md", version=change["previous_version"])
    assert "(../tea.md#steep)" in (root / "notes/day.md").read_text()


def test_links_stay_if_the_caller_wants_it_or_they_need_no_change(talk, root):
    moved = talk.call("vault", "move", from_path="tea.md", to_path="b/tea.md", update_links=False)
    assert "relinked" not in moved
    assert "not_relinked" not in moved
    assert "(../tea.md" in (root / "notes/day.md").read_text()
    (root / "only.md").write_text("[[tea]]\n")
    moved = talk.call("vault", "move", from_path="b/tea.md", to_path="c/d/tea.md")
    assert "relinked_paths" not in moved or "only.md" not in moved["relinked_paths"]


def test_a_move_touches_and_names_only_what_its_caller_may_see(app, talk, root):
    (root / "team" / "page.md").write_text("# Page\n")
    (root / "team" / "by.md").write_text("[x](page.md) [[page]]\n")
    (root / "outside.md").write_text("[x](team/page.md)\n")
    door = Door(app)
    key = door.create_key("member", root="/team", default="/team")

    def call(tool: str, **params) -> dict[str, Any]:
        return door.ask(key, "call", module="vault", tool_name=tool, params=params)["result"]["structuredContent"]

    (item,) = call("backlinks", path="team/page.md")["items"]
    assert item["ref"]["path"] == "team/by.md"
    moved = call("move", from_path="team/page.md", to_path="team/x/new.md")
    assert moved["relinked_paths"] == ["team/by.md"]
    assert "outside" not in json.dumps(moved)
    assert (root / "outside.md").read_text() == "[x](team/page.md)\n"
    assert (root / "team/by.md").read_text() == "[x](x/new.md) [[new]]\n"


def test_what_is_masked_stays_masked(app, talk, manuals, root):
    enforce(app, MASKING)
    for folder in (manuals, root):
        line = "Ask tanaka@example.com or [me](tea.md) and [x](tanaka@example.com/../tea.md)\n"
        (folder / "ask.md").write_text(f"---\naliases: [sato@example.com]\n---\n# Ask\n{line}")
        (folder / "tea.md").write_text("# Tea\n")
    for answer in (
        talk.call("vault", "backlinks", path="tea.md"),
        talk.call("manual", "backlinks", ref={"manual_id": "k", "path": "tea.md"}),
        talk.call("vault", "move", from_path="tea.md", to_path="b.md"),
        talk.call("manual", "toc", manual_id="k"),
    ):
        assert "@example.com" not in json.dumps(answer)
    assert "[me](b.md) and [x](tanaka@example.com/../tea.md)" in (root / "ask.md").read_text()
    assert ("ask.md", 1) not in find(talk, "sato@example.com")
