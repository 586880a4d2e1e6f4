"""A move changes links so that they lead where they led before."""

import random

import pytest

from tokonoma.files.edits import apply_edits
from tokonoma.files.links import TextLink, find_links
from tokonoma.files.pages import PageIndex, resolve_link
from tokonoma.files.relink import FileMove

PATHS = ["a.md", "notes/b.md", "notes/deep/c.md", "other/b.md", "docs/index.md", "p.png", "my notes/x y.md"]


@pytest.mark.parametrize(
    ("origin", "goal", "path", "before", "after"),
    [
        ("notes/b.md", "old/b2.md", "a.md", "[x](notes/b.md#h)", "[x](old/b2.md#h)"),
        ("notes/b.md", "old/b2.md", "a.md", '[x](./notes/b "t")', '[x](./old/b2 "t")'),
        ("notes/b.md", "old/b2.md", "a.md", "[x]: <notes/b.md>\n", "[x]: <old/b2.md>\n"),
        ("notes/b.md", "my old/b(2).md", "a.md", "[x](notes/b.md)", "[x](my%20old/b%282%29.md)"),
        ("notes/b.md", "my old/b.md", "a.md", "[x](<notes/b.md>)", "[x](<my old/b.md>)"),
        ("notes/b.md", "old/b2.md", "a.md", "[x](/notes/b.md)", "[x](/old/b2.md)"),
        ("notes/b.md", "old/b2.md", "notes/deep/c.md", "[x](../b.md)", "[x](../../old/b2.md)"),
        ("my notes/x y.md", "z.md", "a.md", "[x](my%20notes/x%20y.md)", "[x](z.md)"),
        ("docs/index.md", "guide/index.md", "a.md", "[x](docs/)", "[x](guide/)"),
        ("docs/index.md", "guide.md", "a.md", "[x](docs/)", "[x](guide.md)"),
        ("p.png", "img/p.png", "a.md", "![x](p.png) ![[p.png]]", "![x](img/p.png) ![[p.png]]"),
        ("notes/b.md", "old/b2.md", "a.md", "[[notes/b#h|x]] `[[notes/b]]`", "[[b2#h|x]] `[[notes/b]]`"),
        ("notes/deep/c.md", "c.md", "a.md", "[[c]] [[deep/c.md]]", "[[c]] [[c.md]]"),
        ("notes/b.md", "x/y/b.md", "notes/deep/c.md", "[[notes/b]]", "[[y/b]]"),
        # the moved file's own links
        ("a.md", "n/m/a.md", "a.md", "[x](notes/b.md) ![p](p.png) [y](#h) [z](/p.png)",
         "[x](../../notes/b.md) ![p](../../p.png) [y](#h) [z](/p.png)"),
        ("a.md", "a2.md", "a.md", "[x](notes/b.md) [me](a.md#h) [[a#h]]", "[x](notes/b.md) [me](a2.md#h) [[a2#h]]"),
        ("notes/b.md", "other/z.md", "notes/b.md", "[[b]] [w](https://b.md) [gone](gone.md) [out](../../x)",
         "[[z]] [w](https://b.md) [gone](../notes/gone.md) [out](../../x)"),
        # a name that would now mean the moved file
        ("a.md", "c.md", "docs/index.md", "[[c]]", "[[deep/c]]"),
        ("notes/b.md", "old/b2.md", "a.md", "[x](other/b.md) [[other/b]]", "[x](other/b.md) [[other/b]]"),
    ],
)  # fmt: skip
def test_a_link(origin, goal, path, before, after):
    plan = FileMove.plan(origin, goal, PATHS)
    assert apply_edits(before, plan.list_edits(path, before)) == after
    assert after == before or path == origin or plan.may_change(before)


def test_what_is_hidden_stays():
    plan = FileMove.plan("a.md", "b/a.md", PATHS)
    text = "[x](a.md) [y](a.md)"
    assert apply_edits(text, plan.list_edits("p.md", text, [(0, 9)])) == "[x](a.md) [y](b/a.md)"


def find_target(pages: PageIndex, paths, path: str, link: TextLink) -> str | None:
    if link.kind == "wiki":
        return pages.find_page(link.target, path, paths)
    return pages.find_file(resolve_link(path, link.target), paths)


def test_links_lead_where_they_led_before():
    chance = random.Random(3)
    names = ["a", "b", "c d", "index"]
    for _ in range(300):
        folders = {"/".join(chance.choices(["x", "y", "z"], k=chance.randint(0, 3))) for _ in range(8)}
        files = sorted(f"{folder}/{chance.choice(names)}.md".lstrip("/") for folder in folders)
        (origin, path, one), goal = chance.choices(files, k=3), f"new/{chance.choice(names)}.md"
        written = [f"[[{one.removesuffix('.md')}]]", f"[[{chance.choice(names)}]]", f"[l](</{chance.choice(files)}>)"]
        text = " ".join([*written, f"[l](<{chance.choice(names)}.md>)", "[l](../)"])
        plan = FileMove.plan(origin, goal, files)
        place = goal if path == origin else path
        changed = apply_edits(text, plan.list_edits(path, text))
        for old, new in zip(find_links(text), find_links(changed), strict=True):
            led = find_target(plan.before, files, path, old)
            if led is not None:
                leads = find_target(plan.after, plan.paths_after, place, new)
                assert leads == (goal if led == origin else led), (origin, goal, path, old, new)
