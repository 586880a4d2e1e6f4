"""The three tools of the gateway, and the module `system`."""

import json

from golden.steps import Json, ToolStep, call, direct

MODULES = ["system", "memory", "claims", "vault", "bridge", "items", "manual"]


def batch(says: str, *lines: Json | str, **more: object) -> ToolStep:
    text = "\n".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in lines)
    return direct("batch", says, {"jsonl": text, **more})


def line(id: str, path: str, params: Json | None = None, **more: object) -> Json:
    module, _, tool = path.partition(".")
    return {"id": id, "module": module, "tool": tool, **({} if params is None else {"params": params}), **more}


SYSTEM = [
    call("system.status", "at the start"),
    call("system.where", "the owner is told"),
    call("system.status", "an unknown field", {"verbose": 1}),
    call("system.recent", "two wrong fields", {"limit": "many", "page": 2}),
    call("system.recent", "a limit too small", {"limit": 0}),
    call("system.recent", "a limit that is no number", {"limit": True}),
    call("system.recent", "a cursor that nobody made", {"cursor": "made up"}),
    call("system.system_status", "by its listed name"),
    call("system.system.status", "by its full name"),
    direct("system_status", "without the gateway", {}),
    direct("system.status", "without the gateway, with a dot", {}),
    call("system.stauts", "an unknown tool"),
    call("sistem.status", "an unknown module"),
    call("nothing.like.it", "a module that is near to none"),
    call("gateway.batch", "the gateway through itself", {"jsonl": ""}),
    direct("system_stauts", "an unknown listed name", {}),
    direct("zzz", "a name that is near to none", {}),
]

SCHEMAS = [
    *[direct("get_module_schema", f"signatures of {name}", {"module": name}) for name in MODULES],
    *[direct("get_module_schema", f"schemas of {name}", {"module": name, "format": "json"}) for name in MODULES],
    direct("get_module_schema", "all modules", {"module": "*"}),
    direct("get_module_schema", "two modules", {"module": ["bridge", "system"]}),
    direct("get_module_schema", "an unknown module", {"module": "sytem"}),
    direct("get_module_schema", "a known and two unknown modules", {"module": ["system", "memry", "x"]}),
    direct("get_module_schema", "no module", {}),
    direct("get_module_schema", "several problems", {"module": 5, "format": "xml", "extra": True}),
    direct("call", "nothing at all", {}),
    direct("call", "no tool", {"module": "system"}),
    direct("call", "a module that is a number", {"module": 1, "tool_name": "status"}),
    direct("call", "parameters that are a list", {"module": "system", "tool_name": "status", "params": []}),
    direct("call", "an unknown field", {"module": "system", "tool_name": "status", "extra": 1}),
]

BATCH = [
    batch(
        "one after the other, with a value passed on",
        line("a", "memory.save", {"content": "out of a batch", "namespace": "batch"}),
        line("b", "memory.get", {"memo_id": "${a.memo_id}", "namespace": "batch"}, output=True),
        line("c", "memory.save", {"content": "id $${a} is ${a.memo_id}, version ${a.version}", "namespace": "batch"}),
        line("d", "memory.get", {"memo_id": "${c.memo_id}"}, after=["b"], output=True, fields=["content", "version"]),
    ),
    batch(
        "side by side, with projections",
        line("a", "system.status", output=True, fields=["modules.name", "health.policy"]),
        line("b", "memory.namespaces", {}, output=True, fields=["items.namespace"]),
        line("c", "items.get_statuses", {}, output=True, fields=["items[0].name", "nowhere"]),
        line("d", "claims.list", {}),
    ),
    batch(
        "a step that fails, and those that need it",
        line("a", "memory.get", {"memo_id": "nothing"}),
        line("b", "memory.get", {"memo_id": "${a.memo_id}"}),
        line("c", "system.status", after="b"),
        line("d", "memory.namespaces", {}, output=True),
        line("e", "items.get_item_detail", {"type": "issue", "id": 999}),
        line("f", "claims.get", {"claim_id": "clm_0"}),
        line("g", "vault.read", {"path": "none.md", "full": True}),
        line("h", "system.recent", {"limit": "${d.nowhere}"}),
        line("i", "system.recent", {"limit": "${d.has_more}"}),
    ),
    batch(
        "every line is wrong in its own way",
        line("a", "system.status"),
        "not json",
        line("a", "system.status"),
        line("c", "system.nothing"),
        line("d", "system.recent", {"limit": "many"}),
        line("e", "system.recent", {"limit": "${zz.x}"}),
        line("f", "sistem.status"),
        {"id": "g", "module": "system"},
        line("h", "system.status", colour="red"),
        "[]",
    ),
    batch("a cycle", line("a", "system.status", after="b"), line("b", "system.status", after="a")),
    batch("nothing"),
    batch("more than a hundred", *[line(f"s{number}", "system.where") for number in range(101)]),
    batch(
        "a dry run",
        line("a", "memory.save", {"content": "never"}),
        line("b", "memory.get", {"memo_id": "${a.memo_id}"}),
        dry_run=True,
    ),
    batch("with a key", line("a", "memory.save", {"content": "once"}, output=True), idempotency_key="k1"),
    batch("with the same key", line("a", "memory.save", {"content": "once"}, output=True), idempotency_key="k1"),
    batch("with the same key and another text", line("z", "memory.save", {"content": "x"}), idempotency_key="k1"),
    batch("several problems", line("a", "system.status"), dry_run="yes", time_limit=601, idempotency_key="", zzz=1),
    direct("batch", "no lines", {}),
    ToolStep(
        "batch: progress is told",
        "batch",
        {"jsonl": json.dumps(line("a", "memory.namespaces", {}))},  # of several, who is told of which is chance
        more={"_meta": {"progressToken": "p"}},
    ),
]
