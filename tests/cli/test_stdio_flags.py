"""The flags of a `stdio` start, read by hand."""

import pytest

from tokonoma.cli import parse_stdio_flags
from tokonoma.config.settings import SETTINGS, resolve_settings


@pytest.mark.parametrize(
    ("words", "piped", "flags"),
    [
        (["stdio"], False, {}),
        ([], True, {}),
        (["--home", "/x"], True, {"home": "/x"}),
        (["stdio", "--home", "/x", "--direct", "all"], False, {"home": "/x", "direct": "all"}),
        (["--home=/a=b", "stdio"], False, {"home": "/a=b"}),
        (["stdio", "--database-url", "sqlite:///x"], False, {"database_url": "sqlite:///x"}),
        (["stdio", "--direct="], False, {"direct": ""}),
        (["stdio", "--require-key", "--no-telemetry"], False, {"require_key": True, "telemetry": False}),
    ],
)
def test_a_plain_start_is_read(words, piped, flags):
    assert parse_stdio_flags(words, piped=piped) == flags


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["stdio", "--help"],
        ["stdio", "--hom", "/x"],
        ["stdio", "--home"],
        ["stdio", "--require-key=yes"],
        ["stdio", "again"],
        ["serve"],
        ["serve", "--home", "/x"],
        ["-h"],
        ["--"],
    ],
)
def test_everything_else_is_left_to_click(words):
    assert parse_stdio_flags(words, piped=True) is None


def test_no_words_at_a_terminal_are_no_start():
    assert parse_stdio_flags([], piped=False) is None
    assert parse_stdio_flags(["--home", "/x"], piped=False) is None


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_every_setting_is_a_flag(setting):
    flag = "--" + setting.name.replace("_", "-")
    words = [flag] if isinstance(setting.default, bool) else [flag, "1"]
    flags = parse_stdio_flags(["stdio", *words], piped=False)
    assert flags is not None
    assert list(flags) == [setting.name]
    if isinstance(setting.default, bool):
        assert resolve_settings(flags, {}, {}).values[setting.name] is True
