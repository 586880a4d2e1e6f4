"""What an edit makes of a file is screened, not only what the caller sends: two harmless parts may make a secret."""

from pathlib import Path

import pytest
from policy.houses import enforce
from talk import Lines

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
