"""Which file system a path lies on, from the system's own table of mounts. Pure but for `mounts`."""

import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

# SQLite needs locks that every process sees at once and writes that arrive in order: these promise neither.
_NETWORK = {
    *("9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs", "gpfs", "lustre", "nfs", "nfs3", "nfs4"),
    *("smb2", "smb3", "smbfs", "webdav"),
    *("fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
}

Mounts = dict[str, str]
"""mount point → type"""


def is_network(kind: str) -> bool:
    return kind in _NETWORK


def find_filesystem_type(path: Path, table: Mounts) -> str:
    """The type of the file system that holds the path: the deepest mount point above it wins."""
    above = [str(each) for each in (PurePosixPath(path), *PurePosixPath(path).parents)]
    return next((table[each] for each in above if each in table), "")


def read_mounts() -> Mounts:
    """What is mounted where; empty where this system does not say."""
    if sys.platform.startswith("linux"):
        return parse_mountinfo(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    if sys.platform == "darwin":
        told = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False)
        return parse_mount_output(told.stdout)
    return {}


def parse_mountinfo(text: str) -> Mounts:
    """Linux: `36 35 98:0 / /home rw,noatime shared:1 - ext4 /dev/sda1 rw`; spaces in paths are written \\040."""
    found: Mounts = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:
            place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])
            found[place] = after.split(" ")[0]  # a later mount on the same point hides the earlier one
    return found


def parse_mount_output(text: str) -> Mounts:
    """macOS: `/dev/disk1s1 on / (apfs, local, journaled)`."""
    return dict(re.findall(r"^.+ on (.+) \((\w+)", text, re.MULTILINE))
