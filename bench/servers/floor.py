"""The floor: a bare JSON-RPC loop on the standard library, with no checks at all. `floor.py stdio | http PORT`.

Nothing that speaks the protocol in Python can cost much less; nobody should use it.
"""

import json
import sys
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [{"name": name, "inputSchema": TEXT} for name in ("echo", "upper", "count")]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "bench-floor", "version": "1"},
}


def answer(line: bytes | str) -> str | None:
    message: dict[str, Any] = json.loads(line)
    method = message["method"]
    if method == "tools/call":
        text = message["params"]["arguments"]["text"]
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "initialize":
        result = HELLO
    else:
        return None
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":"))


def serve_stdio() -> None:
    for line in sys.stdin:
        reply = answer(line)
        if reply is not None:
            sys.stdout.write(reply + "\n")
            sys.stdout.flush()


def serve_http(port: int) -> None:
    import asyncio  # the stdio loop must not pay for it

    class Bare(asyncio.Protocol):
        """Reads whole requests by their Content-Length and trusts everything else."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            self.transport = transport
            self.held = b""

        def data_received(self, data: bytes) -> None:
            self.held += data
            while (end := self.held.find(b"\r\n\r\n")) >= 0:
                head = self.held[:end].lower()
                size = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
                if len(self.held) < end + 4 + size:
                    return
                body = (answer(self.held[end + 4 : end + 4 + size]) or "").encode()
                self.held = self.held[end + 4 + size :]
                status = b"200 OK" if body else b"202 Accepted"
                self.transport.write(
                    b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                    % (status, len(body), body)
                )

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(run())


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        serve_stdio()
    else:
        serve_http(int(sys.argv[2]))
