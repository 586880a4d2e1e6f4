"""Bombs that are calls rather than texts: parameters, batches, YAML, globs, patterns, graphs."""

import json
from typing import Any

from faults.bombs import MB, TEXTS, Bomb, nest, query_bombs, repeat, text_bombs


def many_keys(count: int) -> dict[str, int]:
    return {f"k{number}": 1 for number in range(count)}


def lines(*steps: dict[str, Any]) -> str:
    return "\n".join(json.dumps(step) for step in steps)


def step(id: str, module: str, tool: str, **params: Any) -> dict[str, Any]:
    return {"id": id, "module": module, "tool": tool, "params": params}


def references(count: int, each: int) -> str:
    first = step("a", "memory", "save", content=repeat("x", 200_000))
    read = {**step("b", "memory", "get", memo_id="${a.memo_id}", max_characters=100_000), "after": ["a"]}
    rest = [step(f"s{number}", "memory", "search", query="${b.content}" * each) for number in range(count)]
    return lines(first, read, *rest)


def write_yaml_policy(part: str) -> dict[str, Any]:
    return {"yaml": f"version: 1.0.0\n{part}"[:60_000], "validate_only": True}


def parameter_bombs() -> list[Bomb]:
    make = {
        "unknown keys": lambda: many_keys(1_200_000),
        "fewer unknown keys": lambda: many_keys(190_000),
        "one long unknown key": lambda: {"k" * MB: 1},
        "unknown keys with long names": lambda: {f"{number}" * 100: 1 for number in range(2000)},
        "metadata with many keys": lambda: {"content": "x", "metadata": many_keys(190_000)},
        "deep metadata": lambda: {"content": "x", "metadata": nest(50)},
        "too deep": lambda: {"content": "x", "metadata": nest(900)},
        "empty objects": lambda: {"memos": [{}] * 190_000},
        "wrong types": lambda: {"content": [[]] * 190_000},
        "large numbers": lambda: {"content": "x", "ttl_seconds": 10**4000},
        "memos with problems": lambda: {"memos": [{"content": 1, "x": 2}] * 60_000},
        "a long namespace": lambda: {"content": "x", "namespace": "/a" * 200_000},
        "a long id": lambda: {"content": "x", "memo_id": "a" * MB},
        "a long date": lambda: {"content": "x", "expires_at": "2" * MB},
    }
    bombs = [Bomb(f"parameters: {name}", "memory", "save", params) for name, params in make.items()]
    bombs.append(Bomb("parameters: a long name of a tool", "memory", "x" * MB, dict))
    bombs.append(Bomb("parameters: a long name of a module", "y" * MB, "save", dict))
    filters: dict[str, Any] = {
        "many conditions": lambda: many_keys(10_000),
        "many alternatives": lambda: {"a": {"$in": list(range(100_000))}},
        "deep conditions": lambda: {"$and": [nest(40)]},
        "deep logic": lambda: build_logic(12),
        "a long key": lambda: {"a" * MB: 1},
        "a long value": lambda: {"a": "b" * MB},
    }
    bombs += [
        Bomb(f"filter: {name}", "memory", "search", lambda made=made: {"query": "x", "metadata_filter": made()})
        for name, made in filters.items()
    ]
    return bombs


def build_logic(depth: int) -> Any:
    value: Any = {"a": 1}
    for _ in range(depth):
        value = {"$or": [value, value]}
    return value


def batch_bombs() -> list[Bomb]:
    jsonl = {
        "references": lambda: references(97, 50),
        "references in one step": lambda: references(1, 900),
        "too many references": lambda: references(1, 5000),
        "broken references": lambda: lines(*(step(f"s{n}", "memory", "get", memo_id="${" * 10_000) for n in range(90))),
        "dollars": lambda: lines(step("a", "memory", "save", content="$" * MB)),
        "escaped references": lambda: lines(step("a", "memory", "save", content="$${" * 300_000)),
        "quoted keys": lambda: lines(step("a", "memory", "save", content='${a["' + "\\\\" * 200_000)),
        "long paths": lambda: lines(
            step("a", "system", "status"), step("b", "memory", "save", content="${a" + ".x" * MB)
        ),
        "unknown fields": lambda: lines(*({**step(f"s{n}", "system", "status"), **many_keys(2000)} for n in range(90))),
        "unknown parameters": lambda: lines(*(step(f"s{n}", "memory", "save", **many_keys(2000)) for n in range(90))),
        "cycles": lambda: lines(
            *({**step(f"s{n}", "system", "status"), "after": [f"s{m}" for m in range(99)]} for n in range(99))
        ),
        "duplicate keys": lambda: '{"id":"a",' + '"x":1,' * 200_000 + '"tool":"status"}',
        "empty lines": lambda: "\n" * 4 * MB,
        "no JSON": lambda: "{" * 2 * MB,
        "many lines": lambda: "{}\n" * MB,
        "long fields": lambda: lines(
            {**step("a", "system", "status"), "output": True, "fields": ["a" + ".b" * 100_000]}
        ),
        "many fields": lambda: lines(
            {**step("a", "system", "status"), "output": True, "fields": [f"f{n}" for n in range(100_000)]}
        ),
    }
    return [Bomb(f"batch: {name}", "batch", "", lambda made=made: {"jsonl": made()}) for name, made in jsonl.items()]


def yaml_bombs() -> list[Bomb]:
    documents = {
        "flow lists": "[" * 50_000,
        "flow maps": "{" * 50_000,
        "block lists": "- " * 20_000,
        "keys": "? " * 20_000,
        "deep keys": "".join(" " * depth + "a:\n" for depth in range(300)),
        "aliases": "a: &a [x]\n" + "b: [*a, *a, *a]\n" * 2000,
        "a large number": f"a: {'9' * 20_000}\n",
        "a number in base 60": f"a: 1{':1' * 20_000}\n",
        "an impossible date": "a: 2024-99-99\n",
        "many keys": "".join(f"k{number}: 1\n" for number in range(5000)),
        "tabs": "\t" * 50_000,
        "a long text": "a: " + "b " * 25_000,
        "tags": "!!python/object " * 1000,
        "not UTF-8": "\udcff",
    }
    bombs: list[Bomb] = []
    for name, text in documents.items():
        for file in ("manual.yml", "glossary.yml"):
            files = {f"manuals/{name}/a.md": "# A\n", f"manuals/{name}/{file}": text}
            bombs.append(Bomb(f"{file}: {name}", "manual", "list", dict, lambda files=files: files))
        bombs.append(Bomb(f"policy: {name}", "claims", "policy.apply", lambda text=text: write_yaml_policy(text)))
    detectors = {
        "alternatives": "a?" * 400 + "a" * 100,
        "counts": "(?:x{1,100}){1,9}",
        "nested counts": "((a{1,30}){1,30}){1,30}",
        "everything": "(.*)*",
        "classes": "[^a]" * 240,
        "open brackets": "(" * 900,
    }
    for name, pattern in detectors.items():
        part = f"detectors:\n- kind: mine\n  pattern: '{pattern}'\n"
        bombs.append(
            Bomb(f"policy: a detector of {name}", "claims", "policy.apply", lambda part=part: write_yaml_policy(part))
        )
    return bombs


def other_bombs() -> list[Bomb]:
    globs = {
        "stars": "*a" * 240,
        "folders": "**/" * 160,
        "braces": "{a," * 120,
        "classes": "[!a]" * 120,
        "open": "[" * 480,
        "too long": "*" * MB,
    }
    bombs = [Bomb(f"glob: {name}", "vault", "ls", lambda glob=glob: {"glob": glob}) for name, glob in globs.items()]
    patterns = {"loops": "(a*)*b", "counts": "(x{1,100}){1,9}", "alternatives": "(a|a|a)*" * 100, "dots": ".*" * 400}
    target = {"vault/lines.txt": repeat("a" * 99 + "\n", MB)}
    bombs += [
        Bomb(f"pattern: {name}", "vault", "search", lambda q=q: {"query": q, "mode": "regex"}, lambda: target)
        for name, q in patterns.items()
    ]
    for name in ("digits", "kanji", "joined words", "addresses", "link openers", "e-mail addresses"):
        make = TEXTS[name]
        bombs += [
            Bomb(
                f"an item: {name}",
                "items",
                "create_item",
                lambda make=make: {"type": "t", "title": make(150), "content": make(90_000)},
            ),
            Bomb(
                f"a claim: {name}",
                "claims",
                "upsert",
                lambda make=make: {"text": make(40_000), "provenance": {"note": "n"}},
            ),
            Bomb(f"boundary: {name}", "claims", "boundary.validate", lambda make=make: {"payload": make(30_000)}),
        ]
    queries = {
        "brackets": "(" * 1900,
        "not": "-" * 1900,
        "fields": "tag:a " * 300,
        "alternatives": "a OR " * 380,
        "quotes": '"' * 1900,
        "escapes": '"' + "\\a" * 900,
        "dates": "updated:2024-01 " * 100,
        "colons": "a:" * 900,
    }
    bombs += [Bomb(f"query: {name}", "items", "search_items", lambda q=q: {"query": q}) for name, q in queries.items()]
    bombs += [
        Bomb(
            "items: many tags",
            "items",
            "create_item",
            lambda: {"type": "t", "title": "x", "tags": [f"t{n}" for n in range(100_000)]},
        ),
        Bomb(
            "items: many updates",
            "items",
            "bulk_update",
            lambda: {"updates": [{"type": "t", "id": 1, "data": {}}] * 100_000},
        ),
        Bomb(
            "items: many problems",
            "items",
            "bulk_update",
            lambda: {"updates": [{"type": "T" * 100, "id": -n, "data": {"title": ""}} for n in range(90)]},
        ),
        Bomb(
            "state: many links",
            "items",
            "update_current_state",
            lambda: {"content": "x", "related": [f"t-{n}" for n in range(100_000)]},
        ),
        Bomb(
            "vault: many ranges",
            "vault",
            "coverage",
            lambda: {
                "path": "lines.txt",
                "cited_ranges": [{"start_line": n + 1, "end_line": n + 1} for n in range(1000)],
            },
            lambda: target,
        ),
        Bomb(
            "vault: a long heading",
            "vault",
            "replace",
            lambda: {"path": "lines.txt", "heading": "#" * MB, "replace": "x"},
            lambda: target,
        ),
        Bomb("vault: a long path", "vault", "read", lambda: {"path": "a/" * 500_000}),
        Bomb(
            "bridge: a long address",
            "bridge",
            "copy_section",
            lambda: {"from_ref": {"address": "tokonoma://vault/" + "#L1" * 300_000}, "to_path": "x.md"},
        ),
        Bomb("manual: long terms", "manual", "find", lambda: {"query": "x", "must_include": ["a s" * 300_000] * 20}),
        Bomb("manual: a large ref", "manual", "read", lambda: {"ref": many_keys(190_000)}),
        Bomb(
            "manual: one line of 15 MB",
            "manual",
            "toc",
            lambda: {"manual_id": "m"},
            lambda: {"manuals/m/long.md": repeat("word ", 15 * MB)},
        ),
        Bomb(
            "an artifact of charts",
            "vault",
            "audit",
            lambda: {"artifact_path": "artifacts/c.md", "source_path": "lines.txt"},
            lambda: {**target, "vault/artifacts/c.md": TEXTS["charts"](MB // 2)},
        ),
        Bomb(
            "an artifact of lists",
            "vault",
            "audit",
            lambda: {"artifact_path": "artifacts/l.md", "source_path": "lines.txt"},
            lambda: {**target, "vault/artifacts/l.md": TEXTS["nested lists"](MB // 4)},
        ),
        Bomb(
            "an artifact with a wide chart",
            "vault",
            "audit",
            lambda: {"artifact_path": "artifacts/w.md", "source_path": "lines.txt"},
            lambda: {
                **target,
                "vault/artifacts/w.md": "```mermaid\ngraph TD\n"
                + "A & " * 5000
                + "B --> "
                + "C & " * 5000
                + "D\n```\n",
            },
        ),
    ]
    return bombs


def list_bombs() -> list[Bomb]:
    """All of them, in a fixed order."""
    groups = (parameter_bombs, batch_bombs, yaml_bombs, other_bombs, query_bombs, text_bombs)
    return [bomb for group in groups for bomb in group()]
