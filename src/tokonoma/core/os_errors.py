"""Errors of the operating system in words: what is wrong with which file, and what to do. Pure."""

import errno

_WORDS = {
    errno.ENOENT: "There is no file or folder {}. Check its name.",
    errno.EACCES: "{} cannot be used: permission denied. Check its owner and mode, and those of its folder.",
    errno.EPERM: "{} cannot be used: the operation is not permitted. Check its owner and mode.",
    errno.EISDIR: "{} is a folder, but a file is needed. Name a file.",
    errno.ENOTDIR: "{} lies below something that is not a folder. Check its path.",
    errno.EEXIST: "{} already exists. Choose another name, or move it away.",
    errno.ENOTEMPTY: "The folder {} is not empty. Choose another name, or empty it.",
    errno.ENOSPC: "The disk is full: {} could not be written. Free some space, then try again.",
    errno.EDQUOT: "The disk quota is used up: {} could not be written. Free some space, then try again.",
    errno.EROFS: "{} cannot be written: its file system is read-only. Choose another place.",
    errno.ENAMETOOLONG: "The name {} is too long. Choose a shorter one.",
    errno.ELOOP: "{} is a symbolic link that leads to itself. Correct it.",
    errno.EMFILE: "Too many files are open: {} could not be opened. Raise the limit with `ulimit -n`.",
    errno.ENFILE: "This machine has too many files open: {} could not be opened. Close other programs.",
    errno.EFBIG: "{} is too large for its file system or for the limit of this user (`ulimit -f`).",
    errno.EIO: "The disk reported an error at {}. Check the disk and its cables, then the file system.",
    errno.EADDRINUSE: "The port is already in use. Choose another with --port, or stop the program that uses it.",
    errno.ECONNREFUSED: "The connection was refused: nothing listens there. Check the address, and start the service.",
    errno.ETIMEDOUT: "The connection timed out. Check the address and the network.",
}


def describe_os_error(error: OSError) -> str:
    """A sentence without the number of the error."""
    name = error.filename
    shown = repr(name.decode(errors="replace") if isinstance(name, bytes) else str(name)) if name is not None else ""
    words = _WORDS.get(error.errno or 0)
    if words is not None and (shown or "{}" not in words):
        return words.format(shown)
    what = error.strerror or type(error).__name__
    return f"{shown}: {what}. Check it, then try again." if shown else f"{what}. See `tokonoma doctor`."
