"""`python -m bench.vault`: what the vault costs, in CPU time and as ratios of one run: finding everything about a topic
against searching lines, and appending to a long file against appending to a short one.
"""

import json
import queue
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.server.mcp.interface import ToolRequest, ToolResult

from .items import Vocabulary

FILES = 467
TIMES = 21
LOG_BYTES = 2_000_000


class Vault:
    """A Tokonoma in this process, with notes in its vault."""

    def __init__(self, home: Path) -> None:
        self._folder, self._chance = home / "workspace" / "vault", random.Random(11)
        words = Vocabulary(random.Random(7))
        for number in range(FILES):
            sections = (
                f"## {words.asked(self._chance, 2, 3)}\n\n{words.text(self._chance, 30, 120)}\n\n"
                for _ in range(self._chance.randint(2, 8))
            )
            self.write(f"notes/{number:03}.md", f"# Note {number}\n\n{''.join(sections)}")
        self._words = words
        self.app = App({"home": str(home), "embed_provider": "none"}, {})

    def write(self, path: str, text: str) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def question(self) -> str:
        return self._words.asked(self._chance, 1, 3)

    def call(self, tool: str, **params: Any) -> dict[str, Any]:
        answers: queue.SimpleQueue[ToolResult] = queue.SimpleQueue()
        arguments = {"module": "vault", "tool_name": tool, "params": params}
        self.app.dispatcher.start_call(ToolRequest("call", arguments, Caller("stdio")), answers.put)
        answer = answers.get()
        if answer.is_error:
            raise RuntimeError(answer.text)
        return json.loads(answer.text)


def measure(act: Callable[[], object], times: int = TIMES) -> float:
    """The median CPU milliseconds of the process."""
    spent: list[float] = []
    for _ in range(times):
        before = time.process_time()
        act()
        spent.append((time.process_time() - before) * 1000)
    return statistics.median(spent)


def compare_searches(vault: Vault) -> None:
    before = time.process_time()
    vault.call("find", query="warm up")
    print(f"first vault_find of a process   {(time.process_time() - before) * 1000:8.1f} ms")
    asked = [vault.question() for _ in range(TIMES)]
    searches = iter(asked), iter(asked)
    lines = measure(lambda: vault.call("search", query=next(searches[0])))
    found = measure(lambda: vault.call("find", query=next(searches[1])))
    print(f"vault_search, {FILES} files         {lines:8.1f} ms")
    print(f"vault_find, {FILES} files           {found:8.1f} ms   {found / lines:.2f} x vault_search")


def compare_appends(vault: Vault) -> None:
    """200 bytes, appended to a log in Markdown: a heading every 100 lines."""
    line = "- 12:00:00 info: request {} was answered after a while, without any trouble worth a word\n"
    spent: dict[str, float] = {}
    for name, size in (("short", 1000), ("long", LOG_BYTES)):
        path, count = f"logs/{name}.md", size // len(line)
        vault.write(path, "".join(("" if n % 100 else f"\n## Run {n}\n\n") + line.format(n) for n in range(count)))
        vault.call("read", path=path, full=True)
        added = (f"{line.format(n)}{line.format(-n)}"[:200] for n in range(10**6))
        vault.call("write", path=path, content=next(added), mode="append")
        spent[name] = measure(
            lambda path=path, added=added: vault.call("write", path=path, content=next(added), mode="append")
        )
    print(f"append to 1 kB                  {spent['short']:8.1f} ms")
    print(f"append to 2 MB                  {spent['long']:8.1f} ms   {spent['long'] / spent['short']:.1f} x")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tokonoma-vault-") as home:
        vault = Vault(Path(home))
        while "indexing" in vault.call("ls"):
            time.sleep(0.2)
        time.sleep(2.5)  # a file that has just changed is read again by every call
        vault.call("ls")
        compare_searches(vault)
        compare_appends(vault)
        vault.app.close()


if __name__ == "__main__":
    main()
