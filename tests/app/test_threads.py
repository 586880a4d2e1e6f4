"""Numpy's own threads: for the small matrices of a search they cost more than they bring."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_COUNT = """
import threading
from tokonoma.app import App
App({"home": "x", "durable": False}, {}).close()
import numpy
matrix = numpy.ones((600, 600), numpy.float32)
matrix @ matrix
import pathlib
print(len(list(pathlib.Path("/proc/self/task").iterdir())) - threading.active_count())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_numpy_starts_no_threads_of_its_own(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    done = subprocess.run(
        [sys.executable, "-c", _COUNT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout.splitlines()[-1]) == 0
