"""A process that calls a tool of a service when it is told to: for tests with several of them.

asking.py HOME URL SERVICE TOOL     each line of stdin is a number of calls to make at once
"""

import sys
import threading

from tokonoma.app import App
from tokonoma.core.call import Call, Caller


def ask(app: App, service: str, tool: str, count: int) -> set[str]:
    ends, ended = set[str](), threading.Semaphore(0)

    def done(call: Call, error: BaseException | None) -> None:
        ends.add("ok" if error is None else f"{type(error).__name__} {error}")
        ended.release()

    for _ in range(count):
        app.calls.submit(Call(service, tool, {}, Caller("cli"), time_limit=60), done)
    for _ in range(count):
        ended.acquire()
    return ends


if __name__ == "__main__":
    home, url, service, tool = sys.argv[1:]
    app = App({"home": home, "database_url": url, "durable": False, "embed_provider": "none"}, {})
    app.calls.warm()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(",".join(sorted(ask(app, service, tool, int(line)))) + "\n")
        sys.stdout.flush()
    app.close()
