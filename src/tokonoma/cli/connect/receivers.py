"""Where a service sends the browser back after a consent: to this process, or to a server with a public URL.

Both give the answer that carries the right state, and only the first one.
"""

import queue
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol
from urllib.parse import urlsplit

from tokonoma.app import App
from tokonoma.app.consents import DONE
from tokonoma.cli.output import print_note
from tokonoma.core.errors import Expired, Invalid, Unready
from tokonoma.keyring.sign_ins import begin_sign_in, end_sign_in, take_answer
from tokonoma.services.sign_in import CALLBACK_PATH, SIGN_IN_SECONDS, ConsentAnswer, is_same_state, parse_callback

_LOOK_SECONDS = 0.3
_MAX_NOTES = 3  # about requests that were refused
_REQUEST_SECONDS = 10
_OVER = "No answer came in time. Run the command again."


class AnswerReceiver(Protocol):
    redirect_uri: str

    def wait(self, seconds: float) -> ConsentAnswer: ...  # Expired if none comes


@contextmanager
def open_receiver(app: App, provider: str, state: str) -> "Generator[AnswerReceiver]":
    if public := app.settings.get_text("public_url"):
        with app.database.writing() as statements:
            begin_sign_in(statements, provider, state, SIGN_IN_SECONDS)
        try:
            yield ServerReceiver(app, public + CALLBACK_PATH, state)
        finally:
            with app.database.writing() as statements:
                end_sign_in(statements, state)
        return
    receiver = LoopbackReceiver(app.settings.get_int("connect_port"), state)
    try:
        yield receiver
    finally:
        receiver.close()


class ServerReceiver:
    """Waits in the database for what a server has received."""

    def __init__(self, app: App, redirect_uri: str, state: str) -> None:
        self._app, self.redirect_uri, self._state = app, redirect_uri, state

    def wait(self, seconds: float) -> ConsentAnswer:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with self._app.database.reading() as rows:
                query = take_answer(rows, self._state)
            if query is not None:
                return parse_callback(query)
            time.sleep(_LOOK_SECONDS)
        raise Expired(_OVER, reason="consent")


class LoopbackReceiver:
    """Listens on this machine alone."""

    def __init__(self, port: int, state: str) -> None:
        self._answers: queue.Queue[ConsentAnswer] = queue.Queue()
        self._state, self._lock = state, threading.Lock()
        self._is_used, self._notes = False, 0
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), self._build_handler())
        except OSError as error:
            message = f"Cannot listen on port {port} of this machine: {error.strerror or error}."
            raise Unready(f"{message} Choose another with --connect-port.", reason="listen") from error
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.redirect_uri = f"http://localhost:{self.port}{CALLBACK_PATH}"
        threading.Thread(target=self._server.serve_forever, name="consent", daemon=True).start()

    def wait(self, seconds: float) -> ConsentAnswer:
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            raise Expired(_OVER, reason="consent") from None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def receive(self, target: str, host: str) -> tuple[HTTPStatus, str]:
        """Status and text of the page. Only an answer with the right state ends the waiting, once."""
        parts = urlsplit(target)
        if host not in (f"localhost:{self.port}", f"127.0.0.1:{self.port}"):
            return HTTPStatus.MISDIRECTED_REQUEST, self._refuse("it was sent to another Host")
        if parts.path != CALLBACK_PATH:
            return HTTPStatus.NOT_FOUND, "There is nothing here."
        try:
            answer = parse_callback(parts.query)
        except Invalid as error:
            return HTTPStatus.BAD_REQUEST, self._refuse("it is no answer to a consent") + f" {error.message}"
        if not is_same_state(answer, self._state):
            return HTTPStatus.BAD_REQUEST, self._refuse("its state is not the one that was sent")
        with self._lock:
            is_second, self._is_used = self._is_used, True
        if is_second:
            return HTTPStatus.BAD_REQUEST, self._refuse("the answer was already used")
        self._answers.put(answer)
        return HTTPStatus.OK, DONE

    def _refuse(self, why: str) -> str:
        with self._lock:
            self._notes += 1
            shown = self._notes <= _MAX_NOTES
        if shown:
            print_note(f"A request to the callback was refused: {why}.")
        return f"This request is refused: {why}."

    def _build_handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class CallbackHandler(BaseHTTPRequestHandler):
            timeout = _REQUEST_SECONDS
            server_version, sys_version = "tokonoma", ""

            def do_GET(self) -> None:
                status, text = receiver.receive(self.path, self.headers.get("Host", ""))
                content = text.encode()
                self.send_response(status)
                for name, value in (
                    ("Content-Type", "text/plain; charset=utf-8"),
                    ("Content-Length", str(len(content))),
                    ("Cache-Control", "no-store"),
                    ("Referrer-Policy", "no-referrer"),  # the address of this page holds the code
                    ("Connection", "close"),
                ):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """The address of a request holds the code: nothing is written."""

        return CallbackHandler
