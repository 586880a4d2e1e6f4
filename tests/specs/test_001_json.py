"""specs/001: JSON files of a manual over the wire: found in parts, searched as what they mean, read by json_path."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from policy.houses import MASKING, enforce
from talk import Lines, Talk

from tokonoma.modules.manual.json_text import escape_name

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
ROWS = [
    {"id": number, "name": f"規則{number}", "text": f'返品は{number}日前\n例外"{number}"を除く ' * 9}
    for number in range(30)
]


@pytest.fixture
def folder(app) -> Path:
    folder = Path(app.server_info.locations()["manuals"]) / "data"
    folder.mkdir(parents=True)
    return folder


def find(talk: Talk, query: str) -> list[dict[str, Any]]:
    trace = talk.call("manual", "find", query=query, manual_id="data")["trace_id"]
    return talk.call("manual", "hits", trace_id=trace, limit=200)["items"]


def read(talk: Talk, path: str, json_path: str, **more) -> dict[str, Any]:
    ref = {"manual_id": "data", "path": path, "json_path": json_path}
    return talk.call("manual", "read", ref=ref, **more)


def test_a_minified_file_with_escapes_has_a_hit_for_each_part(talk, folder):
    (folder / "rows.json").write_text(json.dumps({"rows": ROWS, "version": "2"}, separators=(",", ":")))
    assert "\\u" in (folder / "rows.json").read_text()
    found = {item["ref"].get("json_path"): item for item in find(talk, "返品は7日前")}
    assert found["/rows/7"]["title"] == "規則7"
    assert {f"/rows/{number}" for number in range(30)} <= {each["ref"].get("json_path") for each in find(talk, "返品")}
    part = read(talk, "rows.json", "/rows/7")
    assert (part["scope"], part["ref"]["json_path"], part["truncated"]) == ("section", "/rows/7", False)
    assert json.loads(part["text"].strip().removesuffix(",")) == ROWS[7]
    assert '"規則7"' in part["text"]
    grouped = talk.call("manual", "find", query="返品は7日前", manual_id="data")["trace_id"]
    files = talk.call("manual", "hits", trace_id=grouped, by="file")["items"]
    line = found["/rows/7"]["ref"]["start_line"]
    assert [line, "規則7"] in [each[:2] for each in files[0]["sections"]]
    again = talk.call(
        "manual", "read", ref={"manual_id": "data", "path": "rows.json", "start_line": line}, scope="section"
    )
    assert again["text"] == part["text"]


def test_hits_show_lines_of_the_text_that_is_read(talk, folder):
    long = "x" * 400 + "\n返品の \u201c期限\u201d" + "y" * 400
    (folder / "rows.json").write_text(json.dumps({"a": "返品の\n期限", "b": long, "c": "z" * 900}))
    (item,) = find(talk, "返品の期限")
    whole = talk.call("manual", "read", ref={"manual_id": "data", "path": "rows.json"})["text"].splitlines()
    (short, text), *_ = item["lines"]
    assert text == whole[short - 1].strip() == '"a": "返品の\\n期限",'
    (item,) = find(talk, "期限”y")
    ((line, cut),) = item["lines"]
    assert cut.strip("…") in whole[line - 1]
    assert "期限”yy" in cut


def test_contents_list_the_parts_of_a_file(talk, folder):
    (folder / "rows.json").write_text(json.dumps({"rows": ROWS}))
    items = talk.call("manual", "toc", manual_id="data")["items"]
    assert [(each["kind"], each["title"], each["level"]) for each in items[:3]] == [
        ("json_file", "rows.json", 0), ("json_node", "rows", 1), ("json_node", "規則0", 2),
    ]  # fmt: skip
    assert items[2]["json_path"] == "/rows/0"
    assert items[2]["parent_id"] == items[1]["node_id"]
    assert talk.call("manual", "ls", manual_id="data")["items"][0]["kind"] == "json"


def test_bad_places_are_refused(talk, folder):
    (folder / "a.json").write_text('{"a": {"b": 1}}')
    ref = {"manual_id": "data", "path": "a.json"}
    for json_path, code in (("/x", "not_found"), ("a", "not_found"), ("/a/b/c", "not_found"), (7, "invalid_parameter")):
        assert talk.refused("manual", "read", ref={**ref, "json_path": json_path})["code"] == code
    assert talk.refused("manual", "read", ref=ref, scope="section")["code"] == "invalid_scope"
    assert talk.refused("manual", "read", ref={**ref, "start_line": 1}, scope="sections")["code"] == "invalid_scope"
    assert talk.call("manual", "read", ref={**ref, "json_path": "/a/b"}, scope="file")["scope"] == "file"


def test_a_long_string_is_read_to_its_end(talk, folder):
    text = "".join(random.Random(3).choices("abcdefgh\n", k=50_000))
    (folder / "long.json").write_text(json.dumps({"a": 1, "text": text}))
    part = read(talk, "long.json", "/text", limits={"max_chars": 20_000})
    parts = [part["text"]]
    while "next_ref" in part:
        part = talk.call("manual", "read", ref=part["next_ref"], limits={"max_chars": 20_000})
        parts.append(part["text"])
    assert len(parts) == 3
    assert json.loads("{" + "".join(parts).strip() + ("" if parts[-1].rstrip().endswith("}") else "}")) == {
        "text": text
    }


def test_what_cannot_be_divided_is_told_of_and_searched(talk, folder):
    (folder / "broken.json").write_text('{"a": "needle",\n')
    (folder / "twice.json").write_text('{"a": "needle one", "a": "needle two"}')
    problems = {each["path"]: each["problem"] for each in talk.call("manual", "ls", manual_id="data")["items"]}
    assert "not valid JSON" in problems["broken.json"]
    assert "occurs twice" in problems["twice.json"]
    assert {each["ref"]["path"] for each in find(talk, "needle")} == {"broken.json", "twice.json"}
    assert {each["ref"]["path"] for each in find(talk, "needle one")} >= {"twice.json"}


FORMS: list[dict[str, Any]] = [{"indent": 2}, {"separators": (",", ":")}, {"indent": 1, "ensure_ascii": False}]


def make_value(source: random.Random, words: list[str], depth: int = 0) -> Any:
    kind = source.random()
    if depth > 2 or kind < 0.4:
        word = f"w{len(words)}{source.choice(['語', 'é', 'x'])}q"
        words.append(word)
        return source.choice(["{}", 'a "{}"\nb', "\\{}/", "{} \U0001f600", "line\n\t{}", " " * 300 + "{}"]).format(word)
    keys = ["name", "a/b", "~", "キー", "x y", "é\n", "id", '"q"']
    if kind < 0.7:
        return {
            f"{source.choice(keys)}{index}": make_value(source, words, depth + 1)
            for index in range(source.randint(1, 9))
        }
    return [make_value(source, words, depth + 1) for _ in range(source.randint(1, 9))]


def follow(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def test_every_string_is_found_and_can_be_read_where_it_was_found(app, folder):
    talk, source = Lines(app), random.Random(16)
    values: dict[str, Any] = {}
    places: dict[str, str] = {}  # word → path
    for number in range(400 if SOAK else 4):
        words = list[str]()
        values[f"f{number}.json"] = make_value(source, words)
        form: dict[str, Any] = source.choice(
            [{"indent": 2}, {"separators": (",", ":")}, {"indent": 1, "ensure_ascii": False}]
        )
        text = json.dumps(values[f"f{number}.json"], **form)
        renamed = {word: f"w{number}x{index}z{word[-2:]}" for index, word in enumerate(words)}
        for word, name in renamed.items():
            escaped = json.dumps(word, ensure_ascii=form.get("ensure_ascii", True))[1:-1]
            new = json.dumps(name, ensure_ascii=form.get("ensure_ascii", True))[1:-1]
            text = text.replace(escaped, new)
            places[name] = f"f{number}.json"
        values[f"f{number}.json"] = json.loads(text)
        (folder / f"f{number}.json").write_text(text, encoding="utf-8")
    checked = list(places)[: None if SOAK else 40]
    assert len(checked) >= 40
    for word in checked:
        lines = talk.call("manual", "search", query=word, manual_id="data")["items"]
        assert [each["ref"]["path"] for each in lines] == [places[word]], word
        assert word in lines[0]["text"]
        pointer = lines[0]["ref"].get("json_path", "")
        assert word in json.dumps(follow(values[places[word]], pointer), ensure_ascii=False)
        if pointer:
            assert word in read(talk, places[word], pointer)["text"]
        hits = [each["ref"] for each in find(talk, word) if each["ref"]["path"] == places[word]]
        assert hits, word
        part = talk.call("manual", "read", ref={"target": "manual", **hits[0]}, limits={"max_chars": 20_000})
        assert word in part["text"]


def test_what_is_hidden_does_not_leak_through_escapes_keys_and_pointers(app, folder):
    enforce(app, MASKING)
    talk = Lines(app)
    hidden = {
        "users": {"taro@yamada.co.jp": {"note": "open word"}, "b": {"phone": "call\n090-1234-5678 open"}},
        "mail": {"text": "write to hanako@yamada.co.jp soon", "filler": "x" * 2000},
    }
    (folder / "who.json").write_text(json.dumps(hidden).replace("@", "\\u0040"))
    (folder / "plain.json").write_text(json.dumps(hidden, indent=2))
    (folder / "broken.json").write_text(json.dumps(hidden).replace("@", "\\u0040") + ",")
    told: list[Any] = [
        talk.call("manual", "toc", manual_id="data"),
        *(find(talk, query) for query in ("open word", "hanako", "taro")),
    ]
    for path in ("who.json", "plain.json", "broken.json"):
        told.append(talk.call("manual", "read", ref={"manual_id": "data", "path": path}, limits={"max_chars": 20_000}))
        told.append(talk.call("bridge", "copy_file", manual_id="data", from_path=path, to_path=f"copy-{path}"))
        told.append((Path(app.server_info.locations()["vault"]) / f"copy-{path}").read_text())
    for mode, query in (("plain", "yamada"), ("regex", "090|ma.ada"), ("loose", "90 1234"), ("plain", "open")):
        told.append(talk.call("manual", "search", query=query, mode=mode))
    assert not told[-2]["items"]
    assert len(told[-1]["items"]) == 4  # lines
    for json_path in ("/users", "/users/b", "/mail/text", ""):
        told.append(read(talk, "who.json", json_path))
    text = json.dumps(told, ensure_ascii=False)
    for secret in ("taro", "hanako", "yamada", "090-1234", "u0040"):
        assert secret not in text, secret
    assert "[masked:email]" in text
    for path in ("who.json", "plain.json"):
        place = f"/users/{escape_name('taro@yamada.co.jp')[1:]}"
        ref = {"manual_id": "data", "path": path, "json_path": place}
        assert talk.refused("manual", "read", ref=ref)["code"] == "not_found"
    for name in ("taro%40yamada.co.jp", "nobody%40yamada.co.jp"):  # also where no detector sees it in the parameters
        source = {"address": f"tokonoma://manual/data/who.json#/users/{name}"}
        assert talk.refused("bridge", "copy_section", from_ref=source, to_path="key.json")["code"] == "not_found"


def test_a_hidden_part_is_not_there(app, folder):
    talk = Lines(app)
    rows = [{"name": f"row {number}", "text": "word " * 120} for number in range(5)]
    rows[3]["text"] += "hanako@yamada.co.jp"
    (folder / "rows.json").write_text(json.dumps({"rows": rows}))
    assert read(talk, "rows.json", "/rows/3")["title"] == "row 3"
    enforce(app, "version: 1\nboundary_classes: { pii: { allow: ['nobody:else'] } }")
    for index in (3, 5):
        ref = {"manual_id": "data", "path": "rows.json", "json_path": f"/rows/{index}"}
        assert talk.refused("manual", "read", ref=ref)["code"] == "not_found"
        assert talk.refused("bridge", "copy_section", from_ref=ref, to_path="row.json")["code"] == "not_found"
    assert read(talk, "rows.json", "/rows/4")["title"] == "row 4"
    text = read(talk, "rows.json", "/rows", limits={"max_chars": 20_000})["text"]
    assert ("row 4" in text, "row 3" in text, "hanako" in text) == (True, False, False)
