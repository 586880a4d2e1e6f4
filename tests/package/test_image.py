"""The program as the image runs it: the same user, command and variables, on a tree that it cannot change."""

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
USER = 65532
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the image is of Linux")


def read_dockerfile() -> dict[str, Any]:
    """What the last stage sets."""
    text = (ROOT / "Dockerfile").read_text("utf-8").rpartition("\nFROM ")[2].replace("\\\n", " ")
    environ = re.search(r"^ENV (.+)$", text, re.MULTILINE)
    check = re.search(r"^HEALTHCHECK .*CMD (\[.+\])$", text, re.MULTILINE)
    entry, command = (re.search(rf"^{name} (\[.+\])$", text, re.MULTILINE) for name in ("ENTRYPOINT", "CMD"))
    assert environ is not None
    assert check is not None
    assert entry is not None
    assert command is not None
    return {
        "environ": dict(each.split("=", 1) for each in environ[1].split()),
        "user": re.search(r"^USER (\S+)$", text, re.MULTILINE)[1],
        "healthcheck": ast.literal_eval(check[1]),
        "words": ast.literal_eval(entry[1]) + ast.literal_eval(command[1]),
    }


def test_the_image_has_no_rights_and_requires_a_key():
    image = read_dockerfile()
    assert image["user"] == f"{USER}:{USER}"
    assert image["environ"]["TOKONOMA_REQUIRE_KEY"] == "true"
    assert image["words"] == ["/opt/tokonoma/bin/tokonoma", "serve"]


def can_shut_in() -> bool:
    """Whether this user may mount read-only, and another user can reach the checkout and its Python."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        return False
    shut = "mount --make-rprivate / && mount -o remount,bind,ro /"
    reach = f"setpriv --reuid {USER} --regid {USER} --clear-groups {sys.executable} -c 'import tokonoma'"
    return subprocess.run(["unshare", "-m", "sh", "-c", f"{shut} && {reach}"], capture_output=True).returncode == 0


@pytest.fixture
def image(tmp_path):
    """Starts a command of the image: as its user, with its variables, on a read-only root, and `/data` of its own."""
    if not can_shut_in():
        pytest.skip("only root can mount read-only and change the user, on a checkout that other users can read")
    found = read_dockerfile()
    data = Path("/tmp") / f"tokonoma-image-{os.getpid()}"  # the folders of pytest are closed to other users
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**found["environ"], "TOKONOMA_HOME": str(data), "TOKONOMA_HOST": "127.0.0.1", "TOKONOMA_PORT": str(port)}
    del environ["PYTHONPATH"]
    environ["PATH"] = os.environ["PATH"]
    # The root is bound read-only; the folder of the data is bound again over it, as a volume is.
    shut = f"mount --bind {data} {data} && mount -o remount,bind,ro / && mount -o remount,bind,rw {data}"
    drop = f"exec setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs --bounding-set=-all"

    def start(words: list[str], **how: Any) -> subprocess.Popen[str]:
        program = [sys.executable, "-m", "tokonoma", *words[1:]] if words[0] == found["words"][0] else words
        script = f'mount --make-rprivate / && {shut} && {drop} "$@"'
        return subprocess.Popen(["unshare", "-m", "sh", "-c", script, "sh", *program], env=environ, text=True, **how)

    yield found, start, data
    shutil.rmtree(data)


@linux
def test_the_entry_point_serves_on_a_read_only_root(image):
    found, start, data = image
    server = start(found["words"], stderr=subprocess.PIPE)
    try:
        for line in server.stderr:
            if json.loads(line).get("event") == "serving":
                break
        else:
            pytest.fail(f"it ended with {server.wait()}")
        check = found["healthcheck"]
        check[0] = sys.executable
        assert start(check).wait() == 0
        made = start([found["words"][0], "keys", "create", "laptop"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        key = made.communicate()[0].strip()
        assert key.startswith("tkn_")
        assert {path.stat().st_uid for path in data.rglob("*")} == {USER}
        outside = start([sys.executable, "-c", "open('/opt/x', 'w')"], stderr=subprocess.PIPE)
        assert "Read-only file system" in outside.communicate()[1]
    finally:
        server.terminate()
        server.stderr.close()
        assert server.wait() == 0
    check = [sys.executable, *found["healthcheck"][1:]]
    assert start(check, stderr=subprocess.DEVNULL).wait() != 0  # the server has ended
