"""`python -m bench.pages`: what a page costs beyond the tools that it calls, and what pages do to an idle server.

One process holds memos and items and is asked for its pages as a browser would, without a socket. While a tool runs,
its page waits; so the CPU time of this process divides into that of the tools and that of the page. Each request is
made three times and the quickest counts; of different requests for one page, the 95th percentile.

The paths are those of the menu. Each page then leads to the pages that it links to below its own path, such as the
first records of a list; so a page that is added to the menu is measured without a change here.
"""

import argparse
import asyncio
import dataclasses
import http.client
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tokonoma.app import App
from tokonoma.app.pages import build_page_parts
from tokonoma.auth.people import ensure_owner, find_person
from tokonoma.auth.sessions import create_ticket
from tokonoma.cli.serve import build_endpoint
from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.server.web.pages.menu import MENU

from .child import Child, Failed, started
from .items import House, Vocabulary
from .messages import STATELESS, http_headers, tool_call
from .peers import PROGRAM, environment
from .report import Goal, Row, table
from .rounds import percentile
from .web import await_port, free_port

ORIGIN = "http://127.0.0.1:8722"
LINKED = 6  # pages below one page
TIMES = 3
BEYOND = 60.0  # milliseconds: the goal for a page beyond its tools
GROWTH = 30.0  # megabytes: the goal for a server whose pages were used
AT_ONCE = 500
NAMESPACES = 300
SETTLE = 1.5  # seconds for what a server still does in the background
SEARCHED = {"/admin/memory": "q", "/admin/search": "query", "/admin/items": "q"}  # path → name of the query
CALLED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("system", "status", {}),
    ("system", "timeline", {"since": "2000-01-01"}),
    ("memory", "search", {"query": "memo"}),
    ("memory", "duplicates", {}),
    ("items", "search_items", {"query": "memo"}),
    ("claims", "list", {}),
    ("manual", "list", {}),
    ("vault", "ls", {}),
)
PAGES = [page.path for group in MENU for page in group.pages]


@dataclasses.dataclass
class Cost:
    """Milliseconds of CPU time of one request: in its tools, and beyond them."""

    tools: float
    beyond: float


class MeteredHouse:
    """A house whose pages are asked for in this process, and whose calls are measured."""

    def __init__(self, folder: Path, memos: int, items: int) -> None:
        house = House(folder, items, items)
        self.app, self.words = house.app, house.words
        fill_memos(self.app, self.words, memos)
        self._spent = 0.0
        self._submit = self.app.calls.submit
        self.app.calls.submit = self._run  # pyright: ignore[reportAttributeAccessIssue]
        self._endpoint: Any = build_endpoint(self.app)
        self._loop = asyncio.new_event_loop()
        self._cookie = ""
        self._sign_in()

    def _run(self, call: Call, done: Any) -> None:
        begin = time.process_time()

        def end(*answer: Any) -> None:
            self._spent += time.process_time() - begin
            done(*answer)

        self._submit(call, end)

    def _sign_in(self) -> None:
        with self.app.database.writing() as statements:
            ensure_owner(statements)
            secret = create_ticket(statements, find_person(statements, "owner").id, "/admin/")
        status, headers, _ = self._request("POST", "/sign-in", urlencode({"link": secret}).encode())
        if status != 303:
            raise Failed(f"signing in was answered with {status}")
        self._cookie = headers[b"set-cookie"].partition(b";")[0].decode()

    def get(self, path: str) -> tuple[int, str]:
        status, _, body = self._request("GET", path)
        return status, body.decode()

    def measure(self, path: str) -> Cost:
        """The quickest of several."""
        costs: list[Cost] = []
        for _ in range(TIMES):
            self._spent, begin = 0.0, time.process_time()
            status, _ = self.get(path)
            whole = time.process_time() - begin
            if status != 200:
                raise Failed(f"{path} was answered with {status}")
            costs.append(Cost(self._spent * 1000, (whole - self._spent) * 1000))
        return Cost(min(each.tools for each in costs), min(each.beyond for each in costs))

    def _request(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[bytes, bytes], bytes]:
        plain, _, query = path.partition("?")
        named = {"host": ORIGIN.partition("//")[2], "origin": ORIGIN, "cookie": self._cookie, "accept-language": "en"}
        if body:
            named["content-type"] = "application/x-www-form-urlencoded"
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": plain, "raw_path": plain.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in named.items() if value],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8722),
        }  # fmt: skip
        events: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(event: dict[str, Any]) -> None:
            events.append(event)

        self._loop.run_until_complete(self._endpoint(scope, receive, send))
        start = events[0]
        return start["status"], dict(start["headers"]), b"".join(each.get("body", b"") for each in events[1:])

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()
        self.app.close()


def fill_memos(app: App, words: Vocabulary, count: int) -> None:
    """Memos in a tree of namespaces, one of ten in a thread, all with metadata, some changed or deleted."""
    chance, run = random.Random(3), build_page_parts(app).run_tool
    caller = Caller("web", principal=OWNER)
    spaces = [f"/{'/'.join(words.text(chance, 1, 3).split())}" for _ in range(NAMESPACES)]
    for start in range(0, count, AT_ONCE):
        memos = [_build_memo(words, chance, spaces, number) for number in range(start, min(count, start + AT_ONCE))]
        saved = run(caller, "memory", "save", {"memos": memos})["items"]
        run(caller, "memory", "save", {"memo_id": saved[0]["memo_id"], "content": words.text(chance, 5, 60)})
        run(caller, "memory", "delete", {"memo_id": saved[-1]["memo_id"]})


def _build_memo(words: Vocabulary, chance: random.Random, spaces: Sequence[str], number: int) -> dict[str, Any]:
    memo: dict[str, Any] = {
        "content": words.text(chance, 5, 60),
        "namespace": chance.choice(spaces),
        "metadata": {"tags": chance.sample(words.words[:40], 2), "year": 2000 + number % 27},
    }
    if number % 2:
        memo["title"] = words.text(chance, 2, 5)
    if number % 10 == 0:
        memo["thread"] = f"thread {number // 1000}"
    return memo


def list_paths(house: MeteredHouse, page: str, requests: int) -> list[str]:
    """The page itself, searches in it where it has some, and pages that it links to below its own path."""
    status, text = house.get(page)
    if status == 404:
        return []
    if status != 200:
        raise Failed(f"{page} was answered with {status}")
    chance = random.Random(5)
    name = SEARCHED.get(page, "q")
    searched = [f"{page}?{urlencode({name: house.words.asked(chance, 1, 3)})}" for _ in range(requests // 2)]
    plain = [page] * (requests - len(searched)) if page in SEARCHED else [page] * requests
    return [*plain, *(searched if page in SEARCHED else ()), *_list_links(text, page)]


def _list_links(text: str, page: str) -> list[str]:
    """No two of them with the same name at the end, such as `new` or `history`; of records, the first few."""
    main = text.partition("<main")[2]
    below = page.rstrip("/")
    found = dict.fromkeys(unescape(each) for each in re.findall(r'href="([^"#]+)', main))
    links = [each for each in found if each.startswith(f"{below}/") and each not in PAGES]
    return sorted(links, key=lambda each: each.count("/"))[:LINKED] if below != "/admin" else []


def measure_pages(memos: int, items: int, requests: int) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="tokonoma-pages-") as folder:
        begin = time.perf_counter()
        house = MeteredHouse(Path(folder) / "home", memos, items)
        print(f"{memos} memos and {items} items stored in {time.perf_counter() - begin:.0f} s", flush=True)
        try:
            for page in PAGES:
                rows += _measure_group(house, page, requests)
        finally:
            house.close()
    return rows


def _measure_group(house: MeteredHouse, page: str, requests: int) -> list[Row]:
    paths = list_paths(house, page, requests)
    own = [each for each in paths if each.partition("?")[0] == page]
    rows = [_to_row(page, [house.measure(each) for each in own])] if own else []
    for path in dict.fromkeys(paths):
        if path.partition("?")[0] != page:
            shown = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "…", path)
            rows.append(_to_row(shown, [house.measure(path) for _ in range(max(3, requests // 5))]))
    return rows


def _to_row(what: str, costs: Sequence[Cost]) -> Row:
    beyond, tools = [each.beyond for each in costs], [each.tools for each in costs]
    values = {"tokonoma": percentile(beyond, 0.95), "floor": percentile(tools, 0.95)}
    print(f"{what}: {values['tokonoma']:.1f} ms beyond {values['floor']:.1f} ms of its tools", flush=True)
    return Row(what, "ms", values, Goal("≤", BEYOND), {"tokonoma": beyond, "floor": tools})


def measure_growth() -> list[Row]:
    """An idle `serve` of a small house before and after all of its pages were opened, and what it has loaded before."""
    with tempfile.TemporaryDirectory(prefix="tokonoma-pages-") as folder:
        home, port = Path(folder) / "home", free_port()
        env = environment(home, TOKONOMA_HOME=str(home), TOKONOMA_PORT=str(port), TOKONOMA_EMBED_PROVIDER="none")
        _start_once(env, home, port)
        with started([str(PROGRAM), "serve"], env, home / "log", by_signal=True) as child:
            await_port(child, port)
            before = _settle(child)
            _call_tools(port)
            called = _settle(child)
            _open_all(env, port)
            after = _settle(child)
        loaded = _count_loaded(env, home, free_port())
    return [
        Row("idle serve, before pages were used", "MB", {"tokonoma": before}),
        Row("idle serve, after all pages were used", "MB", {"tokonoma": after}),
        Row("what pages and their tools add to it", "MB", {"tokonoma": after - before}, Goal("≤", GROWTH)),
        Row("of that, the tools alone, called over MCP before", "MB", {"tokonoma": called - before}),
        Row("what pages add to a serve whose tools were used", "MB", {"tokonoma": after - called}),
        Row("modules of pages that a serve without them has loaded", "", {"tokonoma": float(loaded)}, Goal("=", 0)),
    ]


def _start_once(env: dict[str, str], home: Path, port: int) -> None:
    """Bytecode and database are written, and some memos stored."""
    with started([str(PROGRAM), "serve"], env, home / "log", by_signal=True) as child:
        await_port(child, port)
        for number in range(20):
            command = [str(PROGRAM), "call", "memory", "save", f'{{"content": "memo {number}"}}']
            done = subprocess.run(command, env=env, capture_output=True, check=False)
            if done.returncode:
                raise Failed(done.stderr.decode(errors="replace")[-500:])


def _settle(child: Child) -> float:
    time.sleep(SETTLE)
    return child.memory()["rss"] / 1e6


def _call_tools(port: int) -> None:
    """Over MCP, one tool of each module that pages ask, and the search over all of them."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number, (module, tool, params) in enumerate(CALLED, 2):
        name = "call"
        arguments = {"name": name, "arguments": {"module": module, "tool": tool, "params": params}}
        body = tool_call(number, arguments, STATELESS)
        connection.request("POST", "/mcp", body, http_headers(port, STATELESS, "tools/call", name))
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200 or b'"isError":true' in text:
            raise Failed(f"{module}.{tool} was answered with {answer.status}: {text[:200]!r}")
    connection.close()


def _open_all(env: dict[str, str], port: int) -> None:
    """Sign in with a link, then every page of the menu and what it links to."""
    told = subprocess.run([str(PROGRAM), "open", "--no-browser"], env=env, capture_output=True, check=True)
    link = told.stdout.decode().split()[0].partition("link=")[2]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    origin = f"http://127.0.0.1:{port}"
    headers = {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/sign-in", urlencode({"link": link}), headers)
    answer = connection.getresponse()
    answer.read()
    cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
    for page in PAGES:
        text = _read_page(connection, page, cookie)
        for path in _list_links(text, page):
            _read_page(connection, path, cookie)
    connection.close()


def _read_page(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> str:
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.read().decode()


def _count_loaded(env: dict[str, str], home: Path, port: int) -> int:
    """Python says what it imports, until the server answers."""
    log = home / "imports"
    command = [sys.executable, "-X", "importtime", "-m", "tokonoma", "serve", "--port", str(port)]
    with started(command, env, log, by_signal=True) as child:
        await_port(child, port)
        time.sleep(SETTLE)
        lines: Iterable[str] = log.read_text(errors="replace").splitlines()
        names = [line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")]
    if len(names) < 100:
        raise Failed("Python did not say what it imports")
    return sum(name.startswith(("jinja2", "markdown_it", "tokonoma.server.web.pages")) for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memos", type=int, default=100_000)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=40, help="for each page of the menu")
    parser.add_argument("--only", choices=("pages", "growth"), help="leave the other out")
    chosen = parser.parse_args()
    rows = measure_growth() if chosen.only != "pages" else []
    if chosen.only != "growth":
        rows += measure_pages(chosen.memos, chosen.items, chosen.requests)
    print(table(rows))
    print("The column floor holds the CPU time of the tools that a page calls.")
    if any(row.ok is False for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
