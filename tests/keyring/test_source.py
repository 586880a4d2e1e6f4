"""Where the master key is, and how it is made."""

import base64
import os
import stat
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.core.errors import Conflict, Invalid, Unavailable, Unready
from tokonoma.keyring.source import (
    GivenKey,
    HomeKey,
    SystemKey,
    build_master,
    format_master,
    generate_master,
    parse_master,
)

RAW = bytes(range(200, 232))


@pytest.mark.parametrize(
    "text",
    [
        RAW.hex(),
        RAW.hex().upper(),
        base64.b64encode(RAW).decode(),
        base64.urlsafe_b64encode(RAW).decode().rstrip("="),
        f"  {base64.b64encode(RAW).decode()}\n",
    ],
    ids=["hex", "HEX", "base64", "urlsafe", "spaces"],
)
def test_a_key_is_read_in_every_common_form(text):
    assert parse_master(text, "x").key == RAW


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("correct horse battery staple", "belong neither"),
        ("鍵" * 32, "belong neither"),
        (RAW.hex()[:-2], "instead of 32"),
        (base64.b64encode(RAW[:16]).decode(), "has 16 bytes instead of 32"),
        ("A" * 41, "is not complete"),
    ],
    ids=["empty", "blank", "phrase", "japanese", "short-hex", "short", "cut"],
)
def test_a_wrong_form_is_named_and_not_repeated(text, says):
    with pytest.raises(Unavailable, match=says) as told:
        parse_master(text, "the file x")
    assert "the file x" in told.value.message
    assert "openssl rand" in told.value.message
    assert told.value.reason == "sealed"
    assert not text.strip() or text.strip() not in told.value.message


def test_a_key_does_not_show_itself():
    key = generate_master()
    assert repr(key.key) not in repr(key)
    assert key.fingerprint in repr(key)
    assert key.fingerprint not in key.key.hex()


def test_the_home_gets_one_key_that_only_its_owner_reads(home):
    source = HomeKey(home)
    assert source.read() == []
    key = source.create()
    file = home / "keyring.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert parse_master(file.read_text(), "x") == key == source.create()
    assert [each.name for each in home.iterdir()] == ["keyring.key"]


def test_the_mode_does_not_depend_on_the_umask(home):
    before = os.umask(0)
    try:
        HomeKey(home).create()
    finally:
        os.umask(before)
    assert stat.S_IMODE((home / "keyring.key").stat().st_mode) == 0o600


def test_many_at_once_make_one_key(home):
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: HomeKey(home).create(), range(16)))
    code = "import sys; from pathlib import Path; from tokonoma.keyring.source import HomeKey;"
    code += "print(HomeKey(Path(sys.argv[1])).create().fingerprint)"
    words = [sys.executable, "-c", code, str(home)]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = {each.communicate()[0].strip() for each in started}
    assert {key.fingerprint for key in keys} | told == {keys[0].fingerprint}
    assert [each.name for each in home.iterdir()] == ["keyring.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_key_that_others_can_read_is_refused_with_the_remedy(home, mode):
    HomeKey(home).create()
    file = home / "keyring.key"
    file.chmod(mode)
    with pytest.raises(Unavailable, match="Other users") as told:
        HomeKey(home).read()
    assert f"chmod 600 {file}" in told.value.message
    subprocess.run(["chmod", "600", str(file)], check=True)
    assert len(HomeKey(home).read()) == 1


def test_one_process_at_a_time_changes_the_key(home):
    with HomeKey(home).lock(), pytest.raises(Conflict, match="Try again"), HomeKey(home).lock():
        pass
    with HomeKey(home).lock():
        pass


def open_source(home, environ=None, **flags):
    app = App({"home": str(home), "durable": False, **flags}, environ or {})
    return open_keyring(app).source


def test_the_settings_say_where_it_is(home, tmp_path):
    text, file = RAW.hex(), tmp_path / "mounted"
    file.write_text(base64.b64encode(RAW).decode())
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "tokonoma-keyring").write_text(bytes(32).hex())
    environ = {"CREDENTIALS_DIRECTORY": str(credentials)}
    given = open_source(home, {**environ, "TOKONOMA_KEYRING_KEY": text, "TOKONOMA_KEYRING_KEY_FILE": "/nowhere"})
    assert given.read() == [build_master(RAW)]
    assert "TOKONOMA_KEYRING_KEY" in given.place
    assert text not in given.place
    assert open_source(home, environ, keyring_key_file=str(file)).read() == [build_master(RAW)]
    assert open_source(home, environ).read() == [build_master(bytes(32))]
    assert isinstance(open_source(home, keyring_source="os"), SystemKey)
    home_key = open_source(home, {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert isinstance(home_key, HomeKey)
    assert home_key.place == str(home / "keyring.key")
    assert list(home.iterdir()) == []


def test_a_key_among_the_arguments_is_refused(home):
    with pytest.raises(Invalid, match="Every user of this machine") as told:
        open_source(home, keyring_key=RAW.hex())
    assert RAW.hex() not in told.value.message


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(Unavailable, match="no file or folder") as told:
        GivenKey("x", file=tmp_path / "absent").read()
    assert told.value.reason == "sealed"


def test_the_keyring_of_the_system_holds_it(home, monkeypatch):
    held: dict[str, str] = {}
    backend = types.SimpleNamespace(
        get_password=lambda _, user: held.get(user),
        set_password=lambda _, user, text: held.update({user: text}),
        delete_password=lambda _, user: held.pop(user),
    )
    monkeypatch.setitem(sys.modules, "keyring", backend)
    source = SystemKey(home)
    assert source.read() == []
    first = source.create()
    assert source.read() == [first]
    second = generate_master()
    source.stage(second)
    assert source.read() == [first, second]
    source.promote()
    assert source.read() == [second]
    assert list(held.values()) == [format_master(second)]


def test_without_a_keyring_of_the_system_it_says_so(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(Unready, match=r"tokonoma\[oskeyring\]"):
        SystemKey(home).read()

    def fail(*_):
        raise RuntimeError("canary text of a backend")

    monkeypatch.setitem(sys.modules, "keyring", types.SimpleNamespace(get_password=fail))
    with pytest.raises(Unavailable, match="RuntimeError") as told:
        SystemKey(home).read()
    assert "canary" not in told.value.message
    assert told.value.reason == "sealed"
