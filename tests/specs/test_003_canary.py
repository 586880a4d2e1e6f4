"""A canary secret and a canary e-mail through every tool of every module: neither comes out where policy forbids it."""

import base64
import json
import random
from urllib.parse import quote

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from policy.houses import MASKING, enforce, key
from policy.world import ENTRIES, READS, TELLS_NO_TEXT, World
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.telemetry.metrics import Metrics
from tokonoma.telemetry.otel import OtelSpans

SECRET = "sk-ant-api03-Zk3vQ9xWb7Lm2Np8Rt5Yc1Df6Gh4Jk0Sa"
QUIET = TELLS_NO_TEXT | {"items.get_tags", "items.get_stats"}  # tags hold no address
MAIL = "hanako.canary+x@example.co.jp"


def spellings(canary):
    raw = canary.encode()
    packed = [base64.b64encode(b"." * shift + raw).decode().rstrip("=")[4 if shift else 0 : -4] for shift in range(3)]
    return [canary, quote(canary, safe=""), json.dumps(canary)[1:-1], *packed]


def filled(schema, canary, known, name=""):
    """A value of this shape with the canary wherever a text may stand."""
    if name in known:
        return known[name]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], canary, known)
    kind = schema.get("type")
    if kind == "string":
        return f"x {canary}" if not schema.get("pattern") else "abc1234"
    if kind == "array":
        return [filled(schema.get("items", {}), canary, known)]
    if kind == "object":
        inner = schema.get("properties")
        return {key: filled(each, canary, known, key) for key, each in inner.items()} if inner else {canary: canary}
    return {"integer": 1, "number": 0.5, "boolean": False}.get(kind, canary)


def asked(entry, canary, known):
    """Its parameters twice: all of them, and only those that it needs."""
    properties = entry.input.get("properties", {})
    needed = entry.input.get("required", [])
    whole = {key: filled(each, canary, known, key) for key, each in properties.items()}
    return [whole, {key: whole[key] for key in needed}]


def test_a_secret_comes_out_nowhere(database_url, tmp_path, capsys):
    """No answer, error, log line, journal entry, stored row, metric or span holds it, over either transport."""
    exporter = InMemorySpanExporter()
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "log_level": "debug"}
    app = App(flags, {}, spans=OtelSpans("1", exporter))
    metrics = Metrics(app.dispatcher.version)
    app.observers.append(metrics.observe)
    told = []
    for talk in (Lines(app), Http(app)):
        for entry in ENTRIES.values():
            for params in asked(entry, SECRET, {}):
                told.append(talk.tool("call", module=entry.module, tool_name=entry.name, params=params))
                step = {"id": "a", "module": entry.module, "tool": entry.name, "params": params, "output": True}
                told.append(talk.tool("batch", jsonl=json.dumps(step)))
        told.append(talk.tool("call", module=SECRET, tool_name=SECRET, params={}))
        told.append(talk.tool("call", module="memory", tool_name=SECRET, params={SECRET: SECRET}))
        told.append(talk.ask("tools/call", name=SECRET, arguments={}))
        told.append(talk.tool("get_module_schema", module=SECRET))
    app.journal.flush()
    told.append(stored(app))
    told.append(metrics.render().decode())
    app.close()
    told.append([(span.name, dict(span.attributes or {}), span.events) for span in exporter.get_finished_spans()])
    told.append(capsys.readouterr().err)
    seen = json.dumps(told, ensure_ascii=False, default=str)
    assert len(exporter.get_finished_spans()) > 2 * len(ENTRIES)
    for spelling in spellings(SECRET):
        assert spelling not in seen, seen[max(0, seen.index(spelling) - 500) : seen.index(spelling) + 100]


def stored(app):
    """Everything that the database holds."""
    with app.database.reading() as rows:
        tables = [row[0] for row in rows.rows(app.database.dialect.tables)]
        return {table: [list(map(str, row)) for row in rows.rows(f'select * from "{table}"')] for table in tables}


@pytest.fixture
def world(app) -> World:
    """Every record of every module holds the address, in its text and beside it."""
    made = World(app, random.Random(11), Lines(app), finds={f" {MAIL}": [("email", "pii")]}, deep=True)
    made.fill()
    enforce(app, MASKING)
    return made


def test_an_address_that_is_masked_comes_out_of_no_reading_tool(world, app):
    """Asked one by one and in batches, over both transports. Each that tells texts tells this one masked."""
    told: dict[str, list[str]] = {}
    for talk in (world.talk, Http(app, key(app, "one"))):
        for path in READS:
            module, _, tool = path.partition(".")
            answers = told.setdefault(path, [])
            for times in range(15):
                if times > 2 and (path in QUIET or any("[masked:email]" in one for one in answers)):
                    break  # which records it is asked about is drawn by lot
                asked = world.question(path, talk)
                step = {"id": "a", "module": module, "tool": tool, "params": asked, "output": True}
                for result in (
                    talk.tool("call", module=module, tool_name=tool, params=asked),
                    talk.tool("batch", jsonl=json.dumps(step)),
                ):
                    answers.append(json.dumps(result, ensure_ascii=False))
    for path, answers in told.items():
        assert not [one for one in answers for spelling in spellings(MAIL) if spelling in one], path
    assert {path for path, answers in told.items() if not any("[masked:email]" in one for one in answers)} == QUIET


def test_an_address_that_is_masked_comes_out_of_no_writing_tool(world):
    """What a tool says of what it wrote is read as everything else is."""
    told = {}
    for path, entry in ENTRIES.items():
        if entry.effect == "read":
            continue
        known = {
            "type": "docs", "from_type": "docs", "id": world.one("items"), "from_id": world.one("items"),
            "memo_id": world.one("memory"), "claim_id": world.one("claims"), "path": world.one("vault"),
            "sourceMemoId": world.ids["memory"][0], "targetMemoId": world.ids["memory"][1], "namespace": "/",
            "from_ref": {"address": world.address()}, "to_path": "copy.md", "from_path": world.one("vault"),
            "expected_version": None, "expected_revision": None, "content_hash": None, "expires_at": None,
            "start_date": None, "end_date": None, "status": "Open", "priority": "HIGH", "related": [], "version": None,
        }  # fmt: skip
        for params in asked(entry, f"x {MAIL}", known):
            result = world.talk.tool("call", module=entry.module, tool_name=entry.name, params=params)
            told.setdefault(path, []).append(json.dumps(result, ensure_ascii=False))
    for path, answers in told.items():
        assert not [one for one in answers for spelling in spellings(MAIL) if spelling in one], path
