"""specs/002: random reaches, on every page. A person sees on pages what the tools show to that reach, and nothing tells
what it hides from what does not exist."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from conftest import SOAK
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specs.page_twins import PageTwins, Reader, list_words, normalize_page
from specs.tiny_service import use_tiny_services
from specs.twins import SPACES, Twins, build_reaches, is_allowed, list_leaks

from tokonoma.core.module import ToolInfo
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.menu import MENU

COUNTS = {"sqlite": 10_000 if SOAK else 100, "postgresql": 10_000 if SOAK else 20}
# They tell the two apart: what this caller has asked so far; and a sync, which is for those who see everything.
NOT_RUN = ("system.recent", "system.sync_read")
OWNERS = [page.path for group in MENU for page in group.pages if page.owner_only]
_TOOL = re.compile(r'href="/admin/try\?tool=([^"]+)"')
_MODULE = re.compile(r"<div><dt>([a-z]+)</dt><dd>")


@pytest.fixture
def twins(database_url, tmp_path, monkeypatch):
    use_tiny_services(monkeypatch, tmp_path)
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}
    made = Twins({**flags, "direct": "all", "oauth": "on", "log_level": "warning"})
    yield made
    made.close()


@pytest.fixture
def pages(twins):
    made = PageTwins(twins)
    yield made
    made.close()


def list_paths(pages: PageTwins) -> list[str]:
    """Every kind of page, of every record."""
    found = [*pages.paths, *OWNERS, "/admin/", "/admin/search", "/admin/graph", "/admin/graph/data", "/admin/timeline"]
    for module in (*pages.twins.modules, "nowhere"):
        found += [f"/admin/search?query=roof&module={module}", f"/admin/timeline?zoom=month&module={module}"]
    for space in SPACES:
        found += [f"/admin/memory?namespace={space}", f"/admin/search?query=roof&namespace={space}"]
        found += [f"/admin/timeline?namespace={space}", f"/admin/memory/new?namespace={space}"]
    for name, address in pages.twins.addresses.items():
        id = quote(address, safe="")
        found += [f"/admin/record?id={id}", f"/admin/graph?start={id}&depth=3&near=1", f"/admin/graph/data?start={id}"]
        found += [f"/admin/search?query=roof&expect={id}"]
        if name.startswith("memory"):
            memo = f"/admin/memory/{address.rpartition('/')[2]}"
            found += [memo, f"{memo}/edit", f"{memo}/history"]
    return list(dict.fromkeys(found))


def list_pairs(pages: PageTwins) -> list[tuple[str, str, dict[str, Any]]]:
    """Pages, and the tool that each of them shows."""
    memos = [address.rpartition("/")[2] for name, address in pages.twins.addresses.items() if "memory" in name]
    file = next(path for path in pages.paths if path.startswith("/admin/vault/file/") and path.endswith("sjis.txt"))
    folder = file.split("/")[-2]
    manual = next(path for path in pages.paths if path.startswith("/admin/manuals/in/")).rpartition("/")[2]
    text = {"ref": {"manual_id": manual, "path": "terms.md"}, "scope": "section", "expand": False}
    claim = next(path for path in pages.paths if path.endswith("/forget")).split("/")[-2]
    return [
        ("/admin/memory", "memory.list", {"namespace": "/", "limit": 50}),
        ("/admin/memory?q=roof", "memory.search", {"query": "roof", "namespace": "/", "k": 20, "detail": "full"}),
        *((f"/admin/memory/{memo}", "memory.get", {"memo_id": memo, "namespace": "/"}) for memo in memos),
        ("/admin/items/table", "items.get_items", {"includeClosedStatuses": True, "limit": 100}),
        ("/admin/items/table?q=roof", "items.search_items", {"query": "roof"}),
        ("/admin/items/1", "items.get_item_detail", {"type": "items", "id": 1}),
        ("/admin/claims", "claims.list", {"superseded": False}),
        (f"/admin/claims/{claim}", "claims.get", {"claim_id": claim}),
        ("/admin/vault", "vault.ls", {"shallow": True}),
        (f"/admin/vault/file/{folder}/source.md", "vault.read", {"path": f"{folder}/source.md", "full": True}),
        (f"/admin/vault/search?q=Refunds&dir={folder}", "vault.search", {"query": "Refunds", "relative_dir": folder}),
        ("/admin/manuals", "manual.list", {}),
        ("/admin/manuals/search?q=Refunds", "manual.search", {"query": "Refunds"}),
        ("/admin/items/ready", "items.get_ready_items", {}),
        ("/admin/items/1/history", "items.get_item_history", {"type": "items", "id": 1, "full": True}),
        *((f"/admin/memory/{memo}/history", "memory.history", {"memo_id": memo}) for memo in memos),
        *((f"/admin/memory/{memo}/edit", "memory.get", {"memo_id": memo, "namespace": "/"}) for memo in memos),
        (f"/admin/manuals/read/{manual}/terms.md", "manual.read", text),
        ("/admin/timeline?zoom=day", "system.timeline", {"since": "2000-01-01", "limit": 100}),
        ("/admin/search?query=roof&all=1", "gateway.search", {"query": "roof", "k": 50}),
    ]


def ask_tool(asker: Any, path: str, params: Mapping[str, Any]) -> str:
    """What a call with this reach returns; empty if it is refused."""
    module, _, name = path.partition(".")
    if module == "gateway":
        asked = {"name": name, "arguments": dict(params)}
    else:
        asked = {"name": "call", "arguments": {"module": module, "tool_name": name, "params": dict(params)}}
    result = asker.ask("tools/call", **asked)["result"]
    return "" if result.get("isError") else json.dumps(result)


def list_forms(tool: ToolInfo) -> list[tuple[str, dict[str, str]]]:
    """Forms that run nothing: the plan of a batch, and a tool without its parameters or without the tick."""
    step = json.dumps({"id": "a", "module": tool.module, "tool": tool.name})
    forms = [("/admin/try/batch", {"jsonl": step})]
    runs = tool.effect == "read" and tool.path not in NOT_RUN
    return [*forms, ("/admin/try", {"tool": tool.path})] if runs else forms


@pytest.mark.soak
def test_random_reaches_are_the_same_on_pages(twins, pages, database_url, progress):
    paths, pairs = list_paths(pages), list_pairs(pages)
    tools = [tool for info in twins.modules.values() for tool in info.entries]
    done, asked, total = 0, 0, COUNTS[database_url.partition(":")[0]]

    @given(
        build_reaches(twins),
        st.lists(st.sampled_from(range(len(paths))), min_size=3, max_size=3, unique=True),
        st.sampled_from(range(len(pairs))),
        st.sampled_from(range(len(tools))),
        st.integers(0, 2),
        st.randoms(),
    )
    @settings(max_examples=total, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    def check(reach: Reach, chosen: list[int], number: int, tool_number: int, hidden: int, order: Any) -> None:
        nonlocal asked, done
        path, name, params = pairs[number]
        # A page asks several tools. Without some of the others it still shows what its own tool shows.
        others = [each.path for each in tools if each.module == name.partition(".")[0] and each.path != name]
        reach = replace(reach, mask=reach.mask | set(order.sample(others, min(hidden, len(others)))))
        asker, _ = twins.meet(reach)
        readers, tool = pages.meet(reach), tools[tool_number]
        allowed = {each.path for each in tools if is_allowed(reach, each)}
        readable = {each.module for each in tools if each.path in allowed and each.effect == "read"}

        def compare(path: str, form: Mapping[str, str] | None = None) -> Any:
            nonlocal asked
            asked += 1
            answers = [_open(reader, path, form) for reader in readers]
            first, second = map(normalize_page, answers)
            assert first == second, path
            assert first[0] < 500, (path, first)
            if "canary" not in path:  # else it says what it was asked
                assert list_leaks(first[2], readable, reach) == [], path
            return answers[0]

        home, listed = compare("/admin/").text, compare("/admin/try").text
        assert set(_TOOL.findall(listed)) == allowed
        assert set(_MODULE.findall(home.partition("<h2>Modules</h2>")[2])) == {
            each.partition(".")[0] for each in allowed
        }
        assert compare(f"/admin/try?tool={tool.path}").status_code == (200 if tool.path in allowed else 404)
        compare(*order.choice(list_forms(tool)))
        for each in chosen:
            compare(paths[each])
        page = compare(path)
        shown = list_words(page.text) if page.status_code == 200 else set[str]()
        assert shown >= list_words(ask_tool(asker, name, params)), (path, page.status_code)
        done += 1
        progress(done, total)

    check()
    assert done >= total
    assert asked >= total * 7


def _open(reader: Reader, path: str, form: Mapping[str, str] | None) -> Any:
    return reader.get(path) if form is None else reader.post(path, form)
