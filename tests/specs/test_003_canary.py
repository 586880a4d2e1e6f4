"""A canary secret and a canary e-mail through every tool of every module: neither comes out where policy forbids it."""

import base64
import json
from urllib.parse import quote

from policy.houses import MASKING, enforce
from talk import Lines

from tokonoma import catalogue

SECRET = "sk-ant-api03-Zk3vQ9xWb7Lm2Np8Rt5Yc1Df6Gh4Jk0Sa"
MAIL = "hanako.canary+x@example.co.jp"
ENTRIES = [entry for shelf in catalogue.read(catalogue.SHIPPED) for entry in shelf.entries if shelf.name != "gateway"]


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


def test_a_secret_comes_out_nowhere(app, capsys):
    talk = Lines(app)
    told = []
    for entry in ENTRIES:
        for params in asked(entry, SECRET, {}):
            told.append(talk.tool("call", module=entry.module, tool_name=entry.name, params=params))
    told.append(talk.tool("call", module=SECRET, tool_name=SECRET, params={}))
    told.append(talk.tool("call", module="memory", tool_name=SECRET, params={SECRET: SECRET}))
    told.append(talk.ask("tools/call", name=SECRET, arguments={}))
    told.append(talk.tool("get_module_schema", module=SECRET))
    step = {"id": "a", "module": "memory", "tool": "save", "params": {"content": SECRET}, "output": True}
    told.append(talk.tool("batch", jsonl=json.dumps(step)))
    app.keeper.flush()
    told.append(stored(app))
    told.append(capsys.readouterr().err)
    seen = json.dumps(told, ensure_ascii=False, default=str)
    for spelling in spellings(SECRET):
        assert spelling not in seen


def stored(app):
    """Everything that the database holds."""
    with app.database.reading() as rows:
        tables = [row[0] for row in rows.rows(app.database.dialect.tables)]
        return {table: [list(map(str, row)) for row in rows.rows(f'select * from "{table}"')] for table in tables}


def test_an_address_that_is_masked_comes_out_of_no_tool(app):
    talk = Lines(app)
    memo = talk.call(
        "memory", "save", content=f"連絡は{MAIL}まで", title=f"t {MAIL}", metadata={"mail": MAIL}, thread=MAIL
    )
    other = talk.call("memory", "save", content="another", metadata={"m": MAIL})
    edge = {"sourceMemoId": memo["memo_id"], "targetMemoId": other["memo_id"], "tag": "same"}
    talk.call("memory", "relation.save", **edge, reason=f"see {MAIL}")
    trashed = talk.call("memory", "save", content=f"trash {MAIL}")
    talk.call("memory", "delete", memo_id=trashed["memo_id"])
    claim = talk.call(
        "claims", "upsert", text=f"mail {MAIL}", provenance={"note": MAIL, "actor": MAIL},
        entities=[{"id": "e", "type": "Actor", "name": MAIL}],
    )["data"]["id"]  # fmt: skip
    context = talk.call("claims", "activate", q="mail")["data"]["active_context_id"]
    item = talk.call("items", "create_item", type="docs", title=f"mail {MAIL}", content=f"c {MAIL}", tags=["mail"])
    number = item.get("id") or item["item"]["id"]
    talk.call("items", "update_item", type="docs", id=number, content="the address is gone")
    talk.call("items", "update_current_state", content=f"state {MAIL}")
    enforce(app, MASKING)
    one = memo["memo_id"]
    known = {
        "memo_id": one, "memoId": one, "startMemoId": one, "start_memo_id": one, **edge, "claim_id": claim,
        "active_context_id": context, "id": number, "type": "docs", "query": "mail", "q": "mail", "tag": "mail",
        "prefix": "ma", "history": 5, "full": True,
    }  # fmt: skip
    told, shown = [], 0
    for entry in ENTRIES:
        if entry.effect == "read":
            for params in asked(entry, "mail", known):
                result = talk.tool("call", module=entry.module, tool_name=entry.name, params=params)
                shown += "[email]" in str(result)
                told.append((entry.path, result))
    told.append(talk.tool("call", module="memory", tool_name="list", params={"state": "trash"}))
    told.append(
        talk.tool(
            "call", module="items", tool_name="get_item_history", params={"type": "docs", "id": number, "full": True}
        )
    )
    seen = json.dumps(told, ensure_ascii=False, default=str)
    for spelling in spellings(MAIL):
        assert spelling not in seen, [path for path, result in told[:-2] if spelling in str(result)]
    assert shown >= 8
