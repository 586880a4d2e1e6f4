"""A restore, or a backup, that dies at its Nth step with files: restoring.py WHAT HOME FILE N"""

import os
import signal
import sys
from pathlib import Path

from tokonoma.cli import main
from tokonoma.store import file_archive, file_restore


def die_after(module, name: str, count: int) -> None:
    """The process is killed when the function is called for the Nth time."""
    inner, left = getattr(module, name), [count]

    def run(*arguments, **named):
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return inner(*arguments, **named)

    setattr(module, name, run)


if __name__ == "__main__":
    what, home, file, count = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    os.environ["TOKONOMA_HOME"] = home
    if what == "backup":
        die_after(file_archive, "copy_file", count)
        main(["backup", str(file)])
    else:
        die_after(file_restore, what, count)
        main(["restore", str(file), "--yes"])
