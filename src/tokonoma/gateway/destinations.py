"""Where a text goes by its kind, how it is stored there with its links, and how an older record there is settled."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Record, format_address, parse_address
from tokonoma.core.namespaces import format_namespace
from tokonoma.gateway.inner_calls import InnerStep, Steps

Kind = Literal["memo", "fact", "preference", "task", "decision"]

_MAX_TITLE = 200  # characters of an item's title
_MAX_NOTE = 200


class Destination(NamedTuple):
    module: str
    tool: str  # that stores there
    type: str = ""  # of an item

    @property
    def path(self) -> str:
        return f"{self.module}.{self.tool}"


DESTINATIONS: Mapping[Kind, Destination] = {
    "memo": Destination("memory", "save"),
    "fact": Destination("claims", "upsert"),
    "preference": Destination("claims", "upsert"),
    "task": Destination("items", "create_item", "issue"),
    "decision": Destination("items", "create_item", "decision"),
}
MODULES = tuple(dict.fromkeys(each.module for each in DESTINATIONS.values()))


class NewRecord(NamedTuple):
    """What is to be stored, and to which records it is linked."""

    kind: Kind
    text: str
    namespace: str
    links: Sequence[Record]
    tools: Collection[str]  # `module.tool` that the caller sees

    def can_relate(self, link: Record) -> bool:
        return link.module == "memory" and "memory.relation.save" in self.tools


def store_record(desk: Desk, new: NewRecord) -> Steps[str]:
    """Store it with its links; returns its address."""
    if DESTINATIONS[new.kind].module == "memory":
        return (yield from _store_memo(desk, new))
    if DESTINATIONS[new.kind].module == "claims":
        return (yield from _store_claim(desk, new))
    return (yield from _store_item(desk, new))


def link_record(desk: Desk, new: NewRecord, address: str) -> Steps[None]:
    """Link a record that was there already to what the caller names now."""
    module, name = parse_address(address)
    links = [link for link in new.links if link.address != address]
    if not links:
        return
    if module == "claims":
        yield from _store_claim(desk, new._replace(links=links))  # the same claim: it gets one more source
    elif module == "items":
        for link in links:
            params = {"type": DESTINATIONS[new.kind].type, "id": int(name), "target": format_link(link)}
            yield InnerStep("items", "add_relation", params)
    else:
        yield from _relate_memo(desk.principal, new._replace(links=links), name)
        if others := [link.address for link in links if not new.can_relate(link)]:
            memo = yield InnerStep("memory", "get", {"memo_id": name})
            known: list[str] = memo["metadata"].get("links") or []
            if joined := [*known, *(each for each in others if each not in known)]:
                params = {"memo_id": name, "metadata": {"links": joined}, "expected_version": memo["version"]}
                yield InnerStep("memory", "save", params)


def _store_memo(desk: Desk, new: NewRecord) -> Steps[str]:
    params: dict[str, Any] = {
        "content": new.text, "namespace": format_namespace(new.namespace, desk.principal)
    }  # fmt: skip
    if others := [link.address for link in new.links if not new.can_relate(link)]:
        params["metadata"] = {"links": others}
    saved = yield InnerStep("memory", "save", params)
    yield from _relate_memo(desk.principal, new, saved["memo_id"])
    return format_address("memory", saved["memo_id"])


def _relate_memo(principal: Principal, new: NewRecord, memo_id: str) -> Steps[None]:
    for link in new.links:
        if new.can_relate(link):
            namespace = format_namespace(_find_common(new.namespace, link.namespace), principal)
            ends = {"sourceMemoId": memo_id, "targetMemoId": parse_address(link.address)[1]}
            yield InnerStep("memory", "relation.save", {**ends, "tag": "related", "namespace": namespace})


def _store_claim(desk: Desk, new: NewRecord) -> Steps[str]:
    caller = desk.call.caller
    note = f"remembered by {caller.client or 'an unnamed client'} over {caller.transport}"[:_MAX_NOTE]
    provenance = {"at": format_time(desk.now()), "actor": desk.principal.name, "note": note}
    if new.links:
        provenance["url"] = new.links[0].address
        provenance["note"] = f"{note}; see {', '.join(link.address for link in new.links)}"
    params = {"text": new.text, "kind": new.kind, "scope": "project", "provenance": provenance}
    stored = yield InnerStep("claims", "upsert", params)
    return format_address("claims", stored["id"])


def _store_item(desk: Desk, new: NewRecord) -> Steps[str]:
    title, content = split_title(new.text)
    params: dict[str, Any] = {"type": DESTINATIONS[new.kind].type, "title": title}
    if content:
        params["content"] = content
    if new.links:
        params["related"] = [format_link(link) for link in new.links]
    made = yield InnerStep("items", "create_item", params)
    return format_address("items", str(made["id"]))


def split_title(text: str) -> tuple[str, str]:
    """The first line as a title, cut where it is too long; and the whole text, if it is more than that."""
    line = text.strip().split("\n", 1)[0].strip()
    title = line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"
    return title, "" if title == text.strip() else text


def join_item(record: Record) -> str:
    """What an item says: its title, or a text that begins with it."""
    start = record.title.removesuffix("…")
    return record.text if record.text.lstrip().startswith(start) else f"{record.title}\n{record.text}".strip()


def format_link(link: Record) -> str:
    return f"items-{parse_address(link.address)[1]}" if link.module == "items" else link.address


def suggest_call(
    old: Record, new_address: str, namespace: str, relation: str, tools: Collection[str]
) -> dict[str, Any] | None:
    """The call that merges or supersedes an older record, with all its parameters; None if the caller has no tool for
    it. Where the tool takes one, it names the version that was compared. `namespace`: of the new record."""
    for tool, params in _list_settlements(old, new_address, namespace, contradicted=relation == "contradicted"):
        if f"{old.module}.{tool}" in tools:
            return {"module": old.module, "tool_name": tool, "params": params}
    return None


def _list_settlements(
    old: Record, new_address: str, namespace: str, *, contradicted: bool
) -> list[tuple[str, dict[str, Any]]]:
    """The best one first. What can be undone comes before what cannot."""
    name, (module, newer) = parse_address(old.address)[1], parse_address(new_address)
    if old.module == "items":
        said = f"Superseded by {new_address}" if contradicted else f"The same as {new_address}"
        change = {"status": "Closed", "comment": said, "expected_revision": old.revision}
        return [("update_item", {"type": old.kind, "id": int(name), **change})]
    if old.module == "claims":
        newest = {"claim_id": name, "by": newer, "expected_version": old.revision}
        opinion = {"claim_id": name, "signal": "outdated" if contradicted else "duplicate"}
        return [*([("supersede", newest)] if module == "claims" else []), ("feedback", opinion)]
    removed = ("delete", {"memo_id": name, "expected_version": old.revision})  # into the trash
    if module != "memory":
        return [removed]
    merged = ("merge", {"keep": newer, "merge": [name]})
    if old.namespace != namespace:
        ends = {"sourceMemoId": newer, "targetMemoId": name, "tag": "supersedes", "namespace": "/"}
        return [merged, removed, ("relation.save", ends)]
    marked = ("save", {"memo_id": newer, "supersedes": name})
    return [marked, merged, removed] if contradicted else [merged, marked, removed]


def _find_common(one: str, other: str) -> str:
    """The namespace that both lie in."""
    common: list[str] = []
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        common.append(left)
    return "/".join(common) or "/"
