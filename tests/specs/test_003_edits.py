"""What an edit makes of a file is screened, not only what the caller sends: two harmless parts may make a secret."""

from pathlib import Path

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

SECRET = "AKIAQ3EGRT5ZL2PWX7VN"
FIRST, SECOND = SECRET[:12], SECRET[12:]
SEEN = "version: 1\nboundary_classes: { secret: { allow: ['*'] } }\n"
REDACTING = "version: 1\nwrites: { secret: refuse, pii: redact }\n"


@pytest.fixture
def places(app):
    found = {name: Path(app.server_info.locations()[name]) for name in ("vault", "manuals")}
    for folder in found.values():
        folder.mkdir(parents=True, exist_ok=True)
    return found


@pytest.fixture
def talk(app):
    return Lines(app)


def refused(talk, places, module, tool, line, **params):
    """Whether the call is refused with the place, and changes nothing."""
    before = {path: path.read_bytes() for path in places["vault"].glob("*.md")}
    told = talk.refused(module, tool, **params)
    after = {path: path.read_bytes() for path in places["vault"].glob("*.md")}
    assert after == before
    assert SECRET not in str(told)
    return told["details"]["places"] == [{"kind": "aws_access_key", "line": line}] and (
        f"aws_access_key in line {line}" in told["message"]
    )


def test_a_replacement_that_completes_a_secret_is_refused(talk, places):
    talk.call("vault", "create", path="a.md", content=f"# Keys\n\nkey {FIRST}-REST-\n")
    replaced = {"path": "a.md", "find": "-REST-", "replace": SECOND}
    assert refused(talk, places, "vault", "replace", 3, **replaced)
    assert talk.call("vault", "read", path="a.md", full=True)["text"].endswith(f"{FIRST}-REST-\n")
    assert talk.call("vault", "history", path="a.md")["items"][0]["action"] == "create"
    assert talk.call("vault", "replace", path="a.md", find="-REST-", replace="gone")["replaced"] == 1


def test_so_is_the_removal_of_what_kept_the_parts_apart(talk, places):
    talk.call("vault", "create", path="a.md", content=f"one\n{FIRST}....{SECOND}\n")
    assert refused(talk, places, "vault", "replace", 2, path="a.md", find="....", replace="")


def test_so_is_a_line_that_is_appended(talk, places):
    talk.call("vault", "create", path="a.md", content="The door:\n\npassword:\n")
    told = talk.refused("vault", "write", path="a.md", content="hunter2XYZ9\n", mode="append")
    assert told["details"]["places"] == [{"kind": "password", "line": 4}]
    assert (places["vault"] / "a.md").read_text() == "The door:\n\npassword:\n"


def test_a_copy_holds_what_its_caller_sees(talk, places, app):
    (places["manuals"] / "guide").mkdir()
    (places["manuals"] / "guide" / "a.md").write_text(f"# One\nkey {SECRET}\n")
    enforce(app, SEEN)
    talk.call("bridge", "copy_file", manual_id="guide", from_path="a.md", to_path="copy.md")
    assert SECRET not in (places["vault"] / "copy.md").read_text()
    assert "[masked:" in (places["vault"] / "copy.md").read_text()


def test_so_is_an_old_version_that_another_program_wrote(talk, places, app):
    enforce(app, SEEN)
    (places["vault"] / "a.md").write_text(f"key {SECRET}\n")
    talk.call("vault", "write", path="a.md", content="clean\n", mode="overwrite")
    version = talk.call("vault", "history", path="a.md")["items"][0]["previous_version"]
    assert refused(talk, places, "vault", "restore", 1, path="a.md", version=version)


def test_what_was_there_before_does_not_keep_anyone_from_editing_another_place(talk, places, app):
    enforce(app, SEEN)
    (places["vault"] / "a.md").write_text(f"# Keys\nkey {SECRET}\n\n# Notes\nold\n")
    talk.call("vault", "replace", path="a.md", find="old", replace="new")
    talk.call("vault", "write", path="a.md", content="more\n", mode="append")
    talk.call("vault", "replace", path="a.md", find="# Keys\n", replace="# Our keys\n\n")
    assert (places["vault"] / "a.md").read_text() == f"# Our keys\n\nkey {SECRET}\n\n# Notes\nnew\nmore\n"
    talk.call("vault", "replace", path="a.md", find="more", replace=f"{FIRST}....{SECOND}")
    assert refused(talk, places, "vault", "replace", 7, path="a.md", find="....", replace=""), "once is not twice"


def test_where_the_policy_redacts_the_result_is_redacted(talk, places, app):
    enforce(app, REDACTING)
    (places["vault"] / "a.md").write_text("old@example.org\n")
    talk.call("vault", "write", path="a.md", content="ask zorgl-AT-example.org\n", mode="append")
    talk.call("vault", "replace", path="a.md", find="-AT-", replace="@")
    assert (places["vault"] / "a.md").read_text() == "old@example.org\nask [masked:email]\n"


HIDING = "version: 1\nboundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }\n"
PASSWORD, CARD, MAIL = "Xk9pqhunter22", "4556 7375 8689 9855", "taro.yamada@example.jp"
BODY = "MIIEtaroAb1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3Ab4Cd5Ef6\n" * 4
KEY = f"-----BEGIN PRIVATE KEY-----\n{BODY}-----END PRIVATE KEY-----"
WHOLE = f"# Config\nDB_PASSWORD={PASSWORD}\nport = 5432\n## Card\ncard {CARD}.\n\n{KEY}\nmail {MAIL} end\n"
HIDDEN = [PASSWORD, CARD, CARD[-4:], "Ab1Cd2Ef3", MAIL, "yamada"]
LAYING_BARE = [
    {"find": "DB_PASSWORD=", "replace": "city "},
    {"find": "PASSWORD=", "replace": "CITY is "},
    {"find": ".\n", "replace": "1\n"},  # a longer number, whose last digit is no check digit
    {"find": "card ", "replace": "card 9"},
]  # fmt: skip


def read_everything(talk) -> str:
    told = [talk.tool("call", module="vault", tool_name="read", params={"path": "a.md", "full": True})]
    told += [talk.tool("call", module="vault", tool_name="scan", params={"path": "a.md"})]
    return str(told)


@pytest.mark.parametrize("way", ["owner", "key"])
@pytest.mark.parametrize("edit", LAYING_BARE, ids=str)
def test_no_edit_lays_bare_what_is_hidden_from_its_caller(app, talk, places, edit, way):
    """By another word before it, or a digit more beside it."""
    enforce(app, HIDING)
    caller = talk if way == "owner" else Http(app, key(app, "bot"))
    (places["vault"] / "a.md").write_text(WHOLE)
    assert "[masked:card]" in read_everything(caller)
    told = caller.refused("vault", "replace", path="a.md", **edit)
    assert (told["details"]["reason"], told["details"]["line"]) == ("hidden", 2 if "PASS" in edit["find"] else 5)
    assert (places["vault"] / "a.md").read_text() == WHOLE
    assert [each for each in HIDDEN if each in str(told) + read_everything(caller)] == []


def test_other_edits_beside_what_is_hidden_are_made(app, talk, places):
    enforce(app, HIDING)
    (places["vault"] / "a.md").write_text(WHOLE)
    for edit in (
        {"find": "port = 5432", "replace": "port = 5433"},
        {"find": "DB_PASSWORD", "replace": "MAIN_DB_PASSWORD"},
        {"find": "# Config\n", "replace": "# Our config\n\n"},
        {"find": " end\n", "replace": "\n"},
        {"heading": "Card", "replace": "It is gone.\n"},
    ):
        talk.call("vault", "replace", path="a.md", **edit)
        assert [each for each in HIDDEN if each in read_everything(talk)] == []
    changed = f"# Our config\n\nMAIN_DB_PASSWORD={PASSWORD}\nport = 5433\n## Card\nIt is gone.\n"
    assert (places["vault"] / "a.md").read_text() == changed


OWN = """version: 1
detectors:
  - { kind: staff, class: pii, pattern: 'EMP-[0-9]{6}\\s*$' }
boundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }
"""


def test_nor_does_a_line_that_is_appended(app, talk, places):
    """A detector of the policy may look at the end of the text."""
    enforce(app, OWN)
    (places["vault"] / "a.md").write_text("EMP-123456\n")
    assert "[masked:staff]" in read_everything(talk)
    told = talk.refused("vault", "write", path="a.md", content="more\n", mode="append")
    assert told["details"]["reason"] == "hidden"
    assert "EMP-123456" not in read_everything(talk)
