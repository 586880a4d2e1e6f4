"""A client program in a process of its own, in a pipe or in a terminal, whose output is read as it comes."""

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

_ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b[()=>78][0-9A-Za-z]?|\r")


class Program:
    def __init__(self, process: subprocess.Popen[bytes], output: int, keyboard: int) -> None:
        self.process, self._output, self._keyboard = process, output, keyboard
        self._text, self._read, self._ended = "", 0, False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    @property
    def text(self) -> str:
        """Everything that it has written so far, without what moves the cursor."""
        return _ESCAPES.sub("", self._text)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first match that comes after that of the last call. A program that ends without one is an error."""
        with self._changed:
            while (found := re.compile(pattern).search(self.text, self._read)) is None:
                assert not self._ended, f"{pattern!r} was never written:\n{self.text}"
                self._changed.wait()
            self._read = found.end()
            return found

    def send(self, line: str) -> None:
        os.write(self._keyboard, f"{line}\n".encode())

    def finish(self) -> int:
        """Wait for its end; the exit code."""
        self._reader.join()
        return self.process.wait()

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        for each in {self._output, self._keyboard}:
            os.close(each)

    def _listen(self) -> None:
        pieces = b""
        while True:
            try:
                piece = os.read(self._output, 65_536)
            except OSError:  # a terminal whose program has ended
                piece = b""
            pieces += piece
            with self._changed:
                self._text, self._ended = pieces.decode("utf-8", "replace"), not piece
                self._changed.notify_all()
            if not piece:
                return


@contextlib.contextmanager
def start_program(
    command: Sequence[str | Path], environ: Mapping[str, str], folder: Path, *, terminal: bool = False
) -> Generator[Program]:
    """`terminal`: it runs in one of 500 columns, so that no URL is broken into lines."""
    if terminal:
        output, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 500, 0, 0))
        keyboard, stdin, stdout = output, inside, inside
    else:
        output, stdout = os.pipe()
        stdin, keyboard = os.pipe()
    process = subprocess.Popen(
        [str(each) for each in command],
        env=dict(environ),
        cwd=folder,
        stdin=stdin,
        stdout=stdout,
        stderr=stdout,
        start_new_session=True,
    )
    for each in {stdin, stdout}:
        os.close(each)
    program = Program(process, output, keyboard)
    try:
        yield program
    finally:
        program.close()


def build_environ(home: Path) -> dict[str, str]:
    """Of a person with nothing but a home folder: no program finds a browser, or anything of this machine."""
    tools = home / "bin"
    tools.mkdir(parents=True, exist_ok=True)
    for name in ("xdg-open", "open", "sensible-browser", "www-browser"):
        (tools / name).write_text("#!/bin/sh\nexit 0\n")
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "BROWSER": str(tools / "xdg-open"), "LANG": "C.UTF-8", "TERM": "xterm"}
