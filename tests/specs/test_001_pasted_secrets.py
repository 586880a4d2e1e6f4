"""specs/001: somebody pastes a token into a note or a manual with an editor. Under the default policy the page stays
readable and is found; only the token is masked."""

import json
from pathlib import Path

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASTED = f"# Release\n\nThe release runs on Monday.\n\nGITHUB_TOKEN={TOKEN}\n\nAsk Hanako for the notes.\n"


def test_a_pasted_token_is_masked_and_the_page_stays_readable(talk, tmp_path):
    workspace = tmp_path / "home" / "workspace"
    talk.call("vault", "create", path="notes/release.md", content="# Release\n\nThe release runs on Monday.\n")
    for folder in (workspace / "vault" / "notes", workspace / "manuals" / "guide"):
        folder.mkdir(parents=True, exist_ok=True)
        Path(folder / "release.md").write_text(PASTED, encoding="utf-8")
    found = talk.call("vault", "find", query="Hanako")
    section = {"manual_id": "guide", "path": "release.md", "start_line": 1}
    answers = [
        talk.call("vault", "read", path="notes/release.md", full=True),
        talk.call("manual", "read", ref=section, scope="section"),
    ]
    for answer in answers:
        assert "runs on Monday" in answer["text"]
        assert "Ask Hanako" in answer["text"]
        assert "[masked:" in answer["text"]
        assert len(answer["text"].split("\n")) == len(PASTED.split("\n"))
    assert found["summary"]["candidates"] == 1
    assert talk.call("vault", "ls")["total"] == 1
    manual = talk.call("manual", "find", query="Hanako")
    assert manual["summary"]["candidates"] == 1
    hits = [
        talk.call("vault", "hits", trace_id=found["trace_id"]),
        talk.call("manual", "hits", trace_id=manual["trace_id"]),
        talk.call("vault", "search", query="token"),
        talk.call("vault", "search", query=TOKEN[:12]),
    ]
    assert hits[3]["items"] == []
    assert TOKEN not in json.dumps([answers, found, manual, hits])
