"""Two houses that differ only in what is hidden from a caller give it the same answers, whatever it asks: no character,
order, count or score depends on it. Ids, times and hashes are made equal first."""

import json
import random
import re
from collections.abc import Generator
from typing import Any

import pytest
from conftest import SOAK
from policy.houses import enforce, key
from policy.world import READS, WORD, World
from talk import Http, Lines

from tokonoma.app import App

POLICIES = 1_000 if SOAK else 4  # on each database
ASKED = 20 if SOAK else 60  # probes for each policy
ONE = {
    " taro.yamada@example.jp": [("email", "pii")], " 090-1234-5678": [("phone", "pii")], "": [],
    " 4556 7375 8689 9855": [("card", "pii")],
}  # fmt: skip
OTHER = {
    " hana.suzuki@example.jp": [("email", "pii")], " 080-8642-9753": [("phone", "pii")], "": [],
    " 4929 1254 8876 3207": [("card", "pii")],
}  # fmt: skip
PEM = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n"
GUESSES = [
    "taro.yamada@example.jp", "hana.suzuki@example.jp", "taro", "yamada", "suzuki", "hana.s", "山田", "すずき",
    "090-1234-5678", "090", "8642", "4556 7375 8689 9855", "4556", "3207", "email", "phone", WORD, "MIIEtaro", "masked",
]  # fmt: skip
_IDS = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b[0-9a-f]{16,64}\b|\b[a-z]{2,4}_[0-9a-f]{16,40}\b"
    r'|(?<="version": ")[0-9a-f]{8}\b'  # of a file in the vault: its content's (ADR 0040), unlike hashes of sections
)
_TIMES = re.compile(r'\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=[cC]ursor": ")[^"]+')


@pytest.fixture(params=["sqlite", "postgresql"])
def houses(request, tmp_path) -> Generator[list[App]]:
    opened: list[App] = []
    names: list[str] = []
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    for number in range(2):
        settings = {"home": str(tmp_path / f"home{number}"), "durable": False}
        if server is not None:
            names.append(server.take())
            settings["database_url"] = server.url(names[-1])
        opened.append(App(settings, {}))
    yield opened
    for each in opened:
        each.close()
    for name in names:
        server.give(name)


def fill(app: App, finds, body: str) -> World:
    world = World(app, random.Random(7), Lines(app), finds=finds, deep=True)
    world.fill()
    long = "先頭 " * 30
    for place, (find, _) in enumerate(finds.items()):
        world.talk.call(
            "memory", "save", content=f"{long}{find} {long * 40}{find}", title=f"長い{find}", namespace="/",
            metadata={"mail": f"x{find}", "deep": {"list": [find, place]}}, thread=f"thread{find}",
        )  # fmt: skip
        named = {"title": f"{find.strip()} first", "tags": [f"t{find}"]}
        world.talk.call("items", "create_item", type="docs", content="x", **named)
        if "@" in find:
            world.talk.call("memory", "save", content="lies apart", namespace=f"/n/{find.strip()}")
    for folder in (world.folder("vault"), world.folder("manuals") / "book"):
        folder.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(body[start : start + 60] for start in range(0, len(body), 60))
        (folder / "key.md").write_text("# 鍵\nbefore\n" + PEM.format(lines) + "after\n## 次\nmore\n" * 40)
        found = next(iter(finds)).strip()
        (folder / "who.md").write_text(f"# {found} について\nただし {found} を除く。\n" + f"word {found}\n" * 90)
    return world


def ask_all(world: World, talk: Http, rng: random.Random) -> list[tuple[str, str]]:
    """Every reading tool, and what somebody asks who wants to know what is hidden."""
    world.rng = rng
    asked: list[tuple[str, str]] = []

    def ask(which: str, /, **params) -> None:
        module, _, tool = which.partition(".")
        meta = {"module": module, "tool_name": tool, "params": params}
        told = talk.tool("call", **meta) if tool else talk.tool(which, **params)
        if which == "system.timeline" and params.get("modules") == ["manual"] and "structuredContent" in told:
            told["structuredContent"]["items"].sort(key=lambda each: each["address"])
        asked.append((f"{which} {json.dumps(params, ensure_ascii=False)[:300]}", normalize(told)))

    # In the full count each policy is asked about by a third of the tools: 667 policies for each of them.
    for path in rng.sample(READS, len(READS) // 3 if SOAK else len(READS)):
        if not path.startswith("system."):
            ask(path, **world.question(path, talk))
    for _ in range(ASKED):
        which, params = rng.choice(list_probes(world, rng))
        ask(which, **params)
    for name in ("", "recent", "recent/memory", "namespaces", "namespaces/n", "vault/who.md", "vault/key.md#L4-L6",
                 "manual/book", "manual/book/who.md#L1-L9", f"memory/{world.one('memory')}"):  # fmt: skip
        told = talk.ask("resources/read", uri=f"tokonoma://{name}") if name else talk.ask("resources/list")
        asked.append((f"tokonoma://{name}", normalize({"content": told})))
    return asked


def list_probes(world: World, rng: random.Random) -> list[tuple[str, dict[str, Any]]]:
    guess = rng.choice(GUESSES)
    part, everywhere = guess[: rng.randint(1, len(guess))], {"namespace": "/", "k": 50}
    mail = rng.choice([{"prefix": f"x {part}"}, {"contains": part}, {"gte": f"x {part}"}, f"x {guess}"])
    section = {"manual_id": "book", "path": "key.md", "start_line": rng.randint(1, 6)}
    scope, size = rng.choice(["snippet", "section", "sections"]), rng.randint(20, 400)
    mode, loose = rng.choice(["hybrid", "text", "vector"]), rng.choice(["plain", "loose"])
    order, since = rng.choice(["asc", "desc"]), {"since": "2000-01-01"}
    window = {"offset": rng.randint(0, 40), "max_characters": 12}
    return [
        # A text of its own each time: what the answer compares it with is what is hidden.
        ("remember", {"text": f"長い {guess} {rng.random()}", "kind": rng.choice(["memo", "task"])}),
        ("remember", {"text": f"{guess} first", "kind": rng.choice(["memo", "task"])}),
        ("search", {"query": guess, "k": 50}),
        ("search", {"query": WORD, "k": rng.randint(1, 9)}),
        ("fetch", {"id": world.address(), "offset": rng.randint(0, 40)}),
        ("fetch", {"id": f"tokonoma://{rng.choice(['vault', 'manual/book'])}/{rng.choice(['key', 'who'])}.md"}),
        # Files have the time of the disk, which is not the same in both houses.
        ("system.timeline", {**since, "modules": ["memory", "claims", "items"], "limit": rng.randint(1, 20)}),
        ("system.timeline", {**since, "modules": ["manual"]}),
        ("system.days", {**since, "modules": ["memory", "claims", "items"]}),
        ("system.related", {"address": world.address(), "limit": 100}),
        ("memory.search", {"query": guess, "mode": mode, "explain": True, **everywhere}),
        ("memory.search", {"query": guess, "minimum_score": rng.choice([0.1, 0.3, 0.6]), **everywhere}),
        ("memory.search", {"metadata_filter": {"mail": mail}, **everywhere}),
        ("memory.search", {"query": guess, "valid_at": "2026-01-01", "detail": "full", **everywhere}),
        ("memory.list", {"thread": f"thread {guess}", "namespace": "/"}),
        ("memory.list", {"valid_at": "2026-01-01", "namespace": "/"}),
        ("memory.search", {"thread": f"thread {guess}", "query": WORD, **everywhere}),
        ("memory.search", {"metadata_filter": {"thread": guess}, **everywhere}),
        ("memory.list", {"metadata_filter": {"mail": mail}, "namespace": "/", "state": rng.choice(["kept", "trash"])}),
        ("memory.list", {"namespace": "/", "sort": "title", "order": order, "limit": rng.randint(1, 5)}),
        ("memory.duplicates", {"namespace": "/", "minimum_similarity": rng.choice([0.5, 0.8, 1]), "limit": 50}),
        ("memory.get", {"memo_id": world.one("memory"), **window}),
        ("memory.history", {"memo_id": world.one("memory"), "version": 1, "offset": window["offset"]}),
        ("items.search_suggest", {"query": part}),
        ("items.search_items", {"query": f'"{guess}"'}),
        ("items.search_items", {"query": f"{WORD} NOT {part}"}),
        ("items.search_items", {"query": rng.choice([f"title:{part}", f"-title:{part}", f'tag:"{guess}"'])}),
        ("items.search_items", {"query": rng.choice(["is:open", WORD]), "sort": "title", "order": order}),
        ("items.get_items", {"sort": "title", "order": order, "limit": rng.randint(1, 5)}),
        (
            "items.bulk_update",
            {"query": rng.choice([f'tag:"t {guess}"', f"-title:{part}"]), "data": {}, "dry_run": True},
        ),
        ("items.search_items_by_tag", {"tag": f"t {rng.choice([guess, guess.upper()])}"}),
        ("items.get_tags", {"limit": rng.randint(1, 5)}),
        ("items.get_stats", {}),
        ("memory.namespaces", {"limit": rng.randint(1, 5)}),
        ("memory.threads", {"limit": rng.randint(1, 5)}),
        ("claims.entities", {"query": part, "limit": rng.randint(1, 5)}),
        ("claims.related", {"entity": rng.choice(["e", guess, f"mk0007q {guess}"]), "depth": 2}),
        ("claims.search", {"query": guess, "top_k": 50}),
        ("claims.activate", {"q": guess, "top_k": 50, "include_meta": True}),
        ("vault.search", {"query": part, "mode": loose, "limit": 200}),
        ("vault.search", {"query": re.escape(part), "mode": "regex", "limit": 200}),
        ("vault.find", {"query": guess}),
        ("vault.read", {"path": "key.md", "range": {"start_line": 4, "end_line": 5}}),
        ("vault.read", {"path": "key.md", "full": True, "limits": {"max_chars": size}}),
        ("vault.scan", {"path": rng.choice(["key.md", "who.md"])}),
        ("manual.find", {"query": guess}),
        ("manual.search", {"query": part, "mode": loose, "limit": 200}),
        ("manual.search", {"query": re.escape(part), "mode": "regex", "limit": 200}),
        ("manual.read", {"ref": section, "scope": scope, "limits": {"max_chars": size}}),
    ]


def find_difference(one: str, other: str) -> str:
    start = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"{one[max(0, start - 200) : start + 200]}\n--- other:\n{other[max(0, start - 200) : start + 200]}"


def normalize(told) -> str:
    """The answer with ids and hashes replaced in the order in which they come, and without times and cursors."""
    seen: dict[str, str] = {}
    answer = told.get("structuredContent", told.get("content"))
    if isinstance(answer, dict):
        answer.pop("not_yet_embedded", None)  # files that a question has indexed again: by the worker's time, too
    text = _TIMES.sub("<>", json.dumps(answer, ensure_ascii=False, sort_keys=True))
    return _IDS.sub(lambda found: seen.setdefault(found[0], f"<{len(seen)}>"), text)


def policy_of(rng: random.Random, number: int) -> str:
    """One under which `bot` sees records, but no personal data; others may see it or not."""
    masks = [
        f"{{ module: {module}, kinds: [pii], class: {rng.choice(['public', 'internal', 'pii'])} }}"
        for module in rng.sample(["memory", "claims", "items", "manual", "vault"], rng.randint(0, 3))
    ]
    redacts = rng.choice(["[pii]", "['*']", "[email, phone, card]"])
    hidden = f"pii: {{ allow: ['answer:task', 'owner:eyes'], redact: {redacts} }}"
    return (
        f"version: {number + 1}.0\ncallers: {{ owner: ['*'], 'key:bot': ['answer:task'] }}\n"
        f"boundary_classes: {{ {hidden}, internal: {{ allow: ['*'], redact: {rng.choice(['[]', '[pii]'])} }} }}\n"
        f"masks: [{', '.join(masks)}]\n"
    )


def wait_for_vectors(app: App) -> None:
    """Which records wait for their vectors depends on the worker's time, and what is found by meaning on them."""
    talk = Lines(app)
    talk.call("manual", "list")
    talk.call("vault", "ls")
    while any(each["waiting"] for each in talk.call("system", "status")["vectors"]):
        talk.call("memory", "search", query=WORD)


@pytest.mark.soak
def test_answers_do_not_depend_on_what_is_hidden(frozen_clock, houses, progress):
    worlds = [
        fill(houses[0], ONE, "MIIEtaro" + "Ab1Cd2Ef3Gh4" * 30),
        fill(houses[1], OTHER, "MIIEhana" + "Zy9Xw8Vu7Ts6" * 30),
    ]
    bots = [Http(each, key(each, "bot")) for each in houses]
    secrets = [find.strip() for find in (*ONE, *OTHER) if find]
    never = ["Ab1Cd2Ef", *(part for each in secrets for part in (each, each[:7], each[-7:]))]
    rng = random.Random(11)
    found: list[str] = []
    for number in range(POLICIES):
        yaml, seed = policy_of(rng, number), rng.getrandbits(32)
        for app in houses:
            enforce(app, yaml)
            wait_for_vectors(app)
        one, other = (ask_all(*each, random.Random(seed)) for each in zip(worlds, bots, strict=True))
        told = " ".join(answer for _, answer in one)
        new = [f"{part!r} is shown" for part in never if part in told]
        for (question, first), (_, second) in zip(one, other, strict=True):
            if first != second:
                new.append(f"{question}\n{find_difference(first, second)}")
        progress(number + 1, POLICIES, "\n".join([yaml, *new]) if new else "")
        found += new
    assert found == []
