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


GAPS = """
import ctypes
from pathlib import Path
from tokonoma.app.memory import return_memory

def count_pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
taken = [libc.malloc(60_000) for _ in range(1000)]
for each in taken:
    ctypes.memset(ctypes.c_void_p(each), 1, 60_000)
full = count_pages()
for each in taken[:-1]:  # the last one keeps the end of the heap
    libc.free(each)
pause = return_memory()
print(full - count_pages(), pause)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a function of glibc")
def test_freed_memory_goes_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", GAPS], check=True, capture_output=True, text=True)
    pages, pause = done.stdout.split()
    assert int(pages) * 4096 > 40_000_000
    assert float(pause) > 0
