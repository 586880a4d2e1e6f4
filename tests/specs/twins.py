"""Two servers on one database. One has everything, and a caller with some reach; the other has only what that reach
shows, and a caller who may use all of it. No question may tell them apart."""

import json
import queue
import re
from collections.abc import Collection
from typing import Any

from hypothesis import strategies as st
from talk import Lines

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.catalogue.known_modules import KnownModules
from tokonoma.catalogue.registry import GATEWAY
from tokonoma.core.call import Caller, Principal
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.core.providers import SERVICE_NAMES
from tokonoma.core.reach import Reach
from tokonoma.keyring.accounts import NewAccount
from tokonoma.server.mcp.session import StdioSession

SPACES = ("/", "/team", "/team/ada", "/home")
ACCOUNTS = (("work", "/"), ("own", "/team"), ("ada", "/team/ada"))
CANARY = re.compile(r"canary([a-z]+)in([a-z]+)")
_NAMED_SPACES = {"root": "/", "team": "/team", "teamada": "/team/ada", "home": "/home"}

# What differs between any two calls; and what a caller that may only read knows of itself.
_OWN = re.compile(r'"(request_id|trace_id|timestamp|at|started_at)":\s*"[^"]*"')
_COUNTS = re.compile(r'"(journal_entries|duration_us|bytes_in|bytes_out|requestId)":\s*\d+|\d+ MiB free')
_HINTS = re.compile(r'"(readOnly|idempotent)Hint":\s*(true|false)')


def normalize(answer: Any) -> str:
    return _HINTS.sub("-", _COUNTS.sub("-", _OWN.sub("-", json.dumps(answer).replace('\\"', '"'))))


def fill(owner: Lines) -> dict[str, str]:
    """Records in every namespace, each with a word of its own that must not leave it; their addresses."""
    found: dict[str, str] = {}
    for name, space in _NAMED_SPACES.items():
        word = f"canarymemoryin{name}"
        memo = owner.call("memory", "save", title=word, content=f"{word} roof", namespace=space)
        found[f"memory {name}"] = f"tokonoma://memory/{memo['memo_id']}"
    item = {"title": "canaryitemsinroot", "content": "canaryitemsinroot roof", "related": [found["memory root"]]}
    owner.call("items", "create_item", type="issue", **item)
    owner.call("vault", "create", path="roof.md", content="# Roof\n\ncanaryvaultinroot roof\n")
    found |= {"items": "tokonoma://items/1", "vault": "tokonoma://vault/roof.md"}
    return found


def list_leaks(answer: str, modules: Collection[str], reach: Reach) -> list[str]:
    """Words of records that this reach must not see."""
    return [
        word[0]
        for word in CANARY.finditer(answer)
        if word[1] not in modules or not is_inside(_NAMED_SPACES[word[2]], reach.root)
    ]


def is_allowed(reach: Reach, tool: ToolInfo) -> bool:
    """Whether this reach shows a tool, by the rules as the guide tells them: written a second time, for comparison."""
    if reach.modules is not None and tool.module not in reach.modules:
        return False
    if tool.extra and reach.extras.isdisjoint({"*", f"{tool.module}.*", f"{tool.module}.{tool.name}"}):
        return False
    served = [name for name, space in ACCOUNTS if f"{reach.root}/".startswith(f"{space.rstrip('/')}/")]
    accounts = served if tool.module == "github" else [""]
    return any(not any(_hides(rule, tool, account) for rule in reach.mask) for account in accounts)


def _hides(rule: str, tool: ToolInfo, account: str) -> bool:
    scope, _, effect = rule.partition(":")
    scope, _, name = scope.partition(".") if not effect else (scope, "", "")
    module, _, named = scope.partition("@")
    is_meant = module in ("*", tool.module) and named in ("", account)
    return is_meant and effect in ("", tool.effect) and name in ("", "*", tool.name)


class Asker:
    """One caller of one server, over lines."""

    def __init__(self, app: App, reach: Reach) -> None:
        self._answers: queue.Queue[bytes] = queue.Queue()
        caller = Caller("stdio", principal=Principal("key:p", "key", reach))
        self._session = StdioSession(app.dispatcher, caller, self._answers.put)

    def ask(self, method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._session.handle_line(json.dumps(message).encode())
        return json.loads(self._answers.get(timeout=600))


class Twins:
    def __init__(self, flags: dict[str, Any]) -> None:
        self.whole, self.lacking = App(flags, {}), App(flags, {})
        for name, space in ACCOUNTS:
            store_account(self.whole, NewAccount("github", name, space), {"token": "canary"})
        self.addresses = fill(Lines(self.whole))
        for app in (self.whole, self.lacking):
            app.modules.look_now()
            app.registry.visible_modules(Principal("p"))  # the last look at the file
            app.registry._poll = None
            app.modules._next_look = float("inf")
        self.infos = dict(self.whole.registry._known.infos)
        self.modules = {name: info for name, info in self.infos.items() if name != GATEWAY}
        self.plain = Reach()  # of the caller of the server that lacks the rest

    def list_visible(self, reach: Reach) -> dict[str, ModuleInfo]:
        return {each.name: each for each in self.whole.registry.visible_modules(Principal("key:p", "key", reach))}

    def meet(self, reach: Reach) -> tuple[Asker, Asker]:
        """A caller with this reach of everything, and one who has all of what is left of it."""
        visible = self.list_visible(reach)
        # As `replace_modules`, but what was loaded stays loaded.
        self.lacking.registry._known = KnownModules([self.infos[GATEWAY], *visible.values()])
        # Services are known by name to those who could use them, connected or not.
        known = {*visible, *(name for name in SERVICE_NAMES if reach.sees_module(name))}
        self.plain = Reach(reach.root, reach.default, frozenset(known), frozenset(), frozenset({"*"}))
        return Asker(self.whole, reach), Asker(self.lacking, self.plain)

    def close(self) -> None:
        for app in (self.whole, self.lacking):
            app.close()


def build_reaches(twins: Twins) -> st.SearchStrategy[Reach]:
    modules = st.sampled_from(sorted(twins.modules))
    tools = st.sampled_from([tool.path for info in twins.modules.values() for tool in info.entries])
    effects, accounts = st.sampled_from(("read", "write", "destroy")), st.sampled_from([name for name, _ in ACCOUNTS])
    at = st.builds("github@{}".format, accounts)
    scopes = st.one_of(modules, at, st.just("*"))
    whole = st.sampled_from(("*:read", "*:write", "*:destroy", "memory:read", "items:read", "vault:read"))
    rules = st.one_of(
        modules, tools, at, whole, st.builds("{}:{}".format, scopes, effects), st.builds("{}.close".format, at)
    )
    extras = st.frozensets(st.sampled_from(("*", "system.*", "system.sync_read", "github.*")), max_size=2)

    @st.composite
    def build(draw: st.DrawFn) -> Reach:
        root = draw(st.sampled_from(SPACES))
        default = draw(st.sampled_from([each for each in SPACES if is_inside(each, root)]))
        few = st.one_of(st.none(), st.none(), st.frozensets(modules, max_size=4))
        return Reach(root, default, draw(few), draw(st.frozensets(rules, max_size=6)), draw(extras))

    return build()
