"""Errors of the operating system: which file, what is wrong, what to do; never a number."""

import errno
import os

import pytest

from tokonoma.core.os_errors import describe_os_error


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_every_error_names_the_file_and_no_number(number):
    told = describe_os_error(OSError(number, os.strerror(number), "/some/file"))
    assert "Errno" not in told
    assert "/some/file" in told or number in (errno.EADDRINUSE, errno.ECONNREFUSED, errno.ETIMEDOUT)
    assert told.endswith((".", "`."))
    bare = describe_os_error(OSError(number, os.strerror(number)))
    assert "Errno" not in bare
    assert "{}" not in bare


def test_the_common_ones_say_what_to_do():
    assert describe_os_error(FileNotFoundError(errno.ENOENT, "x", "a.md")) == (
        "There is no file or folder 'a.md'. Check its name."
    )
    assert "Free some space" in describe_os_error(OSError(errno.ENOSPC, "x", "a.md"))
    assert "owner and mode" in describe_os_error(PermissionError(errno.EACCES, "x", b"\xff"))
    assert describe_os_error(OSError("odd")) == "OSError. See `tokonoma doctor`."
