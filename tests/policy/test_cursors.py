"""Cursors come back as they went, to the caller and the list that they were made for; anything else is refused."""

import base64
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.call import OWNER, Principal
from tokonoma.core.errors import Invalid
from tokonoma.policy.cursors import CursorSealer
from tokonoma.policy.versions import TABLES
from tokonoma.store.migrate import migrate

ADA = Principal("ada", "key")
HIDDEN = "ask ada@example.org about it"


class OneRow:
    """A database that holds nothing but its secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def row(self, sql, **_):
        return 0, self._secret, None, None


def sealer(secret: bytes = b"0123456789abcdef") -> CursorSealer:
    return CursorSealer(lambda: OneRow(secret))  # type: ignore[arg-type, return-value]


SEALER = sealer()


@given(st.text(max_size=5), st.lists(st.one_of(st.integers(), st.text()), max_size=4))
def test_a_cursor_comes_back_as_it_went(kind, position):
    assert SEALER.open(ADA, kind, SEALER.seal(ADA, kind, tuple(position))) == position


@given(st.text(max_size=120))
def test_a_text_that_nobody_made_is_refused_and_says_what_to_do(text):
    with pytest.raises(Invalid, match="first page"):
        SEALER.open(ADA, "memos", text)


def test_a_cursor_with_one_letter_changed_or_cut_off_is_refused():
    made = SEALER.seal(ADA, "memos", (HIDDEN, 7))
    for place, letter in itertools.product(range(len(made)), "abcdefghijklmnopqrstuvwxyz234567"):
        others = [made[:place], made + letter, made.upper()]
        if letter != made[place]:
            others.append(made[:place] + letter + made[place + 1 :])
        for other in others:
            with pytest.raises(Invalid):
                SEALER.open(ADA, "memos", other)


@pytest.mark.parametrize(
    ("who", "kind", "other"),
    [
        (ADA, "journal", SEALER),
        (Principal("bob", "key"), "memos", SEALER),
        (Principal("ada", "client"), "memos", SEALER),
        (Principal("ada", "key", person="eve"), "memos", SEALER),
        (OWNER, "memos", SEALER),
        (ADA, "memos", sealer(b"another database")),
    ],
    ids=["list", "name", "kind", "person", "owner", "database"],
)
def test_a_cursor_fits_its_list_its_caller_and_its_database_alone(who, kind, other):
    made = SEALER.seal(ADA, "memos", (HIDDEN, 7))
    with pytest.raises(Invalid):
        other.open(who, kind, made)


def test_nothing_of_a_position_can_be_read_or_compared():
    cursors = {SEALER.seal(ADA, "memos", (HIDDEN, 7)) for _ in range(20)}
    assert len(cursors) == 20  # the same place, each time another text
    raw = [base64.b32decode(each.upper() + "=" * (-len(each) % 8)) for each in cursors]
    assert not any(part in data for data in raw for part in (b"ada", b"example", b"memos", b"key"))
    prefixes = {data[12:28] for data in raw}
    assert len(prefixes) == 20  # not one stream of bytes for all of them


def test_titles_of_about_the_same_length_make_cursors_of_the_same_length():
    assert len({len(SEALER.seal(ADA, "titles", (letters * "x", 1))) for letters in range(10)}) == 1
    assert len(SEALER.seal(ADA, "titles", ("題" * 200, 2**31))) < 1100  # the longest title of an item


def test_a_cursor_from_before_they_were_sealed_is_refused():
    body = json.dumps(["memos", 1, "x"]).encode()
    old = base64.urlsafe_b64encode(body + b"\0\0\0\0").decode().rstrip("=")
    with pytest.raises(Invalid):
        SEALER.open(ADA, "memos", old)


def test_every_process_on_a_database_opens_the_same_cursors(database):
    migrate(database, "policy", TABLES, lambda reason: None)
    made = CursorSealer(database.reading).seal(ADA, "memos", (HIDDEN, 7))
    assert CursorSealer(database.reading).open(ADA, "memos", made) == [HIDDEN, 7]


def test_a_process_that_makes_no_cursor_does_not_load_the_cipher(tmp_path):
    script = """
import sys
from tokonoma.app import App
from talk import Lines
app = App({"home": sys.argv[1], "embed_provider": "none", "durable": False}, {})
app.warm()
talk = Lines(app)
talk.call("memory", "save", content="one")
talk.call("memory", "list")
assert "cryptography" not in sys.modules
talk.call("memory", "save", content="two")
talk.call("memory", "list", limit=1)
assert "cryptography" in sys.modules
app.close()
"""
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "home")], check=True, cwd=Path(__file__).parents[1], timeout=300
    )
