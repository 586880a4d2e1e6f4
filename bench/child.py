"""A server as a child process: spoken to over pipes, its CPU time and memory read from the kernel, ended by its id."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

PATIENCE = 60.0  # seconds that one answer, or one ending, may take before the run is given up


class Failed(Exception):
    """A server did not do its part: there is nothing to measure."""


class Child:
    def __init__(self, argv: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.pid = self.process.pid
        self._input, self._output = self.process.stdin, self.process.stdout
        self._to, self.back = self._input.fileno(), self._output.fileno()
        self._life: float | None = None
        self._held = b""
        self._poll = select.poll()
        self._poll.register(self.back, select.POLLIN)

    def tell(self, message: bytes) -> None:
        line = message + b"\n"
        while line:
            line = line[os.write(self._to, line) :]

    def hear(self) -> bytes:
        """The next line, without its end."""
        while b"\n" not in self._held:
            if not self._poll.poll(PATIENCE * 1000):
                raise Failed(f"no answer within {PATIENCE:.0f} s\n{self.complaint()}")
            data = os.read(self.back, 65536)
            if not data:
                raise Failed(f"the server ended early\n{self.complaint()}")
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line

    def ask(self, message: bytes) -> bytes:
        self.tell(message)
        return self.hear()

    def cpu(self) -> float:
        """Seconds of CPU that all its threads used so far, to the nanosecond: the kernel's clock of that process."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def memory(self) -> dict[str, int]:
        """Resident and proportional bytes."""
        found: dict[str, int] = {}
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value = line.split(":", 1)
            found[name] = int(value.split()[0]) * 1024
        return {"rss": found["Rss"], "pss": found["Pss"]}

    def complaint(self) -> str:
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""

    def end(self, *, by_signal: bool = False) -> float:
        """Close its input (HTTP servers get a signal), wait, and return the CPU seconds of its whole life."""
        if self._life is None:
            self._input.close()
            if by_signal:
                self._signal(signal.SIGTERM)
            self._wait_or_kill()
            _, status, usage = os.wait4(self.pid, 0)
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self._output.close()
            self._life = usage.ru_utime + usage.ru_stime
        return self._life

    def gone(self) -> bool:
        """Whether it has ended by itself; it is still there to be waited for."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _signal(self, number: int) -> None:
        # Not through Popen, which would wait for a process that has ended, and `wait4` would come too late.
        os.kill(self.pid, number)

    def _wait_or_kill(self) -> None:
        handle = os.pidfd_open(self.pid)
        try:
            watch = select.poll()
            watch.register(handle, select.POLLIN)
            if not watch.poll(PATIENCE * 1000):
                self._signal(signal.SIGKILL)
        finally:
            os.close(handle)


@contextlib.contextmanager
def started(argv: Sequence[str], env: Mapping[str, str], log: Path, *, by_signal: bool = False) -> Generator[Child]:
    child = Child(argv, env, log)
    try:
        yield child
    finally:
        child.end(by_signal=by_signal)
