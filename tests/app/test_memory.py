"""The heaps of a process: counted by the C library itself, in a process of its own, because the setting stays."""

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, sys, tempfile, threading
from pathlib import Path
from tokonoma.app import App

libc = ctypes.CDLL(None)
libc.fopen.restype = libc.malloc.restype = ctypes.c_void_p
app = App({"home": sys.argv[1], "durable": False, "log_level": "error"}, {})
if sys.argv[2] == "warm":
    app.warm()
meeting = threading.Barrier(12)

def allocate():
    libc.malloc(100_000)
    meeting.wait()  # all threads live at the same time

threads = [threading.Thread(target=allocate) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
report = Path(sys.argv[1], "heaps.xml")
file = libc.fopen(str(report).encode(), b"w")
libc.malloc_info(0, ctypes.c_void_p(file))
libc.fclose(ctypes.c_void_p(file))
print(report.read_text().count("<heap nr="))
app.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_the_threads_of_a_server_share_one_heap(tmp_path) -> None:
    def count_heaps(mode: str) -> int:
        (tmp_path / mode).mkdir()
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / mode), mode]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert count_heaps("cold") > 4
    assert count_heaps("warm") <= 2
