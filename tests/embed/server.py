"""A real embedding endpoint on 127.0.0.1, which can be told to misbehave in every way that providers do."""

import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import numpy as np

Mood = Literal[
    "well", "down", "busy", "slow", "forbidden", "missing", "wide", "ragged", "nan", "zero", "short", "twice",
    "cut", "words", "empty", "moved", "picky",
]  # fmt: skip


def vector(text: str, dimension: int, seed: int = 0) -> list[float]:
    """The middle of its words' vectors, so that texts with the same words are near each other."""
    rows = [
        np.random.default_rng(zlib.crc32(f"{seed} {word}".encode())).standard_normal(dimension)
        for word in text.lower().split()
    ]
    return np.mean(rows or [np.ones(dimension)], axis=0).tolist()


class EmbeddingServer:
    """`mood` changes how it answers from now on; `asked` are the texts of each request that it answered well."""

    def __init__(self, dimension: int = 16, seed: int = 0) -> None:
        self.dimension, self.seed = dimension, seed
        self.mood: Mood = "well"
        self.retry_after = ""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked: list[list[str]] = []
        self.failed = 0  # answers that are no good
        self.reached = threading.Event()  # a slow request has come
        self.go_on = threading.Event()  # lets slow requests go on
        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._httpd.server_address[1]
        self._thread = threading.Thread(target=self._httpd.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def texts(self) -> list[str]:
        return [text for texts in self.asked for text in texts]

    def close(self) -> None:
        self.go_on.set()
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append(body)
                server.headers.append({key.lower(): value for key, value in self.headers.items()})
                status, headers, answer = server._answer(self.path, body)
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    if "content-length" not in headers:
                        self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    pass  # whoever asked did not wait
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        texts: list[str] = body["input"]
        mood = self.mood
        self.failed += mood not in ("well", "slow", "picky")
        if path != "/v1/embeddings" or mood == "missing":
            return 404, {}, b"{}"
        if mood == "slow":
            self.reached.set()
            self.go_on.wait()
        statuses = {"down": 503, "busy": 429, "forbidden": 401}
        if mood in statuses:
            after = {"retry-after": self.retry_after} if self.retry_after else {}
            return statuses[mood], after, b'{"error": "sk-secret is what you sent"}'
        if mood == "moved":
            return 302, {"location": "http://127.0.0.1:1/elsewhere"}, b""
        if mood == "picky" and any("poison" in text for text in texts):
            return 400, {}, b'{"error": "too long"}'
        return self._vectors(mood, texts, body.get("dimensions") or self.dimension)

    def _vectors(self, mood: Mood, texts: list[str], dimension: int) -> tuple[int, dict[str, str], bytes]:
        rows = [vector(text, dimension + (mood == "wide"), self.seed) for text in texts]
        data: list[dict[str, Any]] = [
            {"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)
        ]
        match mood:
            case "ragged":
                data[0]["embedding"] = data[0]["embedding"][:-1]
            case "nan":
                data[0]["embedding"][0] = float("nan")
            case "zero":
                data[0]["embedding"] = [0.0] * dimension
            case "short":
                data = data[1:]
            case "twice":
                data[0]["index"] = len(data)
            case "words":
                data[0]["embedding"] = "not numbers"
            case _:
                pass
        data.reverse()  # the order is in the index, not in the list
        text = json.dumps({"object": "list", "data": data, "model": "m"}).encode()
        if mood == "empty":
            return 200, {}, b""
        if mood == "cut":
            return 200, {"content-length": str(len(text))}, text[: len(text) // 2]
        self.asked.append(texts)
        return 200, {}, text
