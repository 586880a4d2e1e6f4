"""A process that makes calls when it is told to: for tests with several of them.

asking.py HOME URL PROVIDER [die]     each line of stdin is a number of calls to make at once; `die` is killed
                                      between the provider's answer and the save
"""

import os
import sys
import threading
from pathlib import Path

from services import wire
from services.conftest import build_house

from tokonoma.core.call import Call, Caller
from tokonoma.services.refresh import TokenRefresher


def ask(app, count: int) -> list[str]:
    outcomes: list[str] = []
    ended = threading.Semaphore(0)

    def done(call, error):
        outcomes.append(f"{type(error).__name__} {error}" if error else str(call.value["status"]))
        ended.release()

    for _ in range(count):
        app.calls.submit(Call("wire", "fetch", {}, Caller("cli"), time_limit=60), done)
    for _ in range(count):
        ended.acquire()
    return outcomes


if __name__ == "__main__":
    home, url, provider, *more = sys.argv[1:]
    if more:
        TokenRefresher._store = lambda *given: os.kill(os.getpid(), 9)  # type: ignore[assignment]
    wire.serve_wire(provider)
    app = build_house(Path(home), database_url=url)
    app.calls.warm()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(",".join(sorted(set(ask(app, int(line))))) + "\n")
        sys.stdout.flush()
    app.close()
