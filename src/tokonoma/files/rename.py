"""A rename that never swallows what lies at the new name. Python has none, so the system is asked itself."""

import ctypes
import errno
import os
from functools import cache
from typing import Any

_EXCLUSIVE_FLAGS = {"renameat2": 1, "renameatx_np": 4}  # Linux, macOS
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


def rename_exclusive(source: int, name: str, target: int, real: str) -> None:
    """FileExistsError if something lies there already. `source` and `target` are descriptors of folders."""
    known = _load_system_call()
    if known is not None:
        function, flag = known
        if function(source, os.fsencode(name), target, os.fsencode(real), flag) == 0:
            return
        trouble = ctypes.get_errno()
        if trouble not in _UNSUPPORTED:
            raise OSError(trouble, os.strerror(trouble), real)
    # This file system cannot. A link is made only where nothing is; for a moment the file then has two names.
    os.link(name, real, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    os.unlink(name, dir_fd=source)


@cache
def _load_system_call() -> tuple[Any, int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    for name, flag in _EXCLUSIVE_FLAGS.items():
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            function.restype = ctypes.c_int
            return function, flag
    return None
