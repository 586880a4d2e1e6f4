"""The pages about the whole server: policy, journal, jobs, backups, settings, health."""

import json
import re

import pytest

from tokonoma.app.keyring import open_keyring
from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.errors import Denied
from tokonoma.keyring.accounts import NewAccount, add_account, read_secrets


@pytest.fixture
def owner(site):
    site.sign_in()
    return site


def send(site, path, **form):
    return site.post(path, {"token": site.find_token(), **form})


def read_policy(site) -> str:
    return site.call("claims", "policy.get")["yaml"]


def test_a_policy_is_checked_previewed_applied_and_rolled_back(owner):
    before = read_policy(owner)
    stricter = before.replace("pii: allow", "pii: refuse")
    assert stricter != before
    shown = send(owner, "/admin/policy", yaml=stricter, action="check")
    assert "The text is valid. Nothing was changed." in shown.text
    shown = send(owner, "/admin/policy", yaml=stricter, action="preview")
    assert "<ins>+writes: { secret: refuse, pii: refuse }</ins>" in shown.text
    assert read_policy(owner) == before
    version = owner.call("claims", "policy.get")["version"]
    answer = send(owner, "/admin/policy", yaml=stricter, action="apply", expected=version)
    assert answer.headers["location"] == "/admin/policy?notice=policy_applied"
    assert read_policy(owner) == stricter
    # Back again loosens, which an agent could only propose: here it is the owner who acts.
    now = owner.call("claims", "policy.get")["version"]
    answer = send(owner, "/admin/policy/history", version=version, expected=now)
    assert answer.status_code == 303
    assert read_policy(owner) == before


def test_a_wrong_policy_keeps_its_text_and_names_the_line(owner):
    before = read_policy(owner)
    wrong = before + "unknown_part: 1\n"
    for action in ("check", "preview", "apply"):
        shown = send(owner, "/admin/policy", yaml=wrong, action=action)
        assert shown.status_code == 400
        assert "unknown_part: 1" in shown.text
        assert f"Line {len(wrong.splitlines())}" in shown.text
    assert read_policy(owner) == before


def test_a_policy_that_was_changed_meanwhile_is_a_conflict(owner):
    before = read_policy(owner)
    shown = send(owner, "/admin/policy", yaml=before + "# mine\n", action="apply", expected="0.0.9")
    assert shown.status_code == 400
    assert "# mine" in shown.text
    assert read_policy(owner) == before


def test_what_an_agent_may_only_propose_is_decided_here(owner):
    before = read_policy(owner)
    owner.call("claims", "policy.apply", yaml=before.replace("pii: allow", "pii: refuse"))
    agent = Caller("http", principal=OWNER)
    for decision, expected in (("reject", "pii: refuse"), ("approve", "pii: allow")):
        result = owner.parts.run_tool(agent, "claims", "policy.apply", {"yaml": before})
        id = result["pending"]["id"]
        page = owner.get("/admin/policy/pending").text
        assert "loosens" in page
        assert id in page
        assert send(owner, "/admin/policy/pending", id=id, decision=decision).status_code == 303
        assert expected in read_policy(owner)
    assert "No policy is waiting." in owner.get("/admin/policy/pending").text


def test_a_text_is_tried_and_not_stored(owner):
    shown = send(owner, "/admin/policy/try", text="Mail ada@example.com about it", name="key:laptop", yaml="")
    assert "ada@example.com" not in re.sub(r"(?s)<textarea.*?</textarea>", "", shown.text)
    assert "pii" in shown.text
    assert owner.call("gateway", "search", query="ada")["results"] == []
    shown = send(owner, "/admin/policy/try", text="x", name="owner", yaml="version: [")
    assert shown.status_code == 400


def test_the_journal_is_filtered_paged_exported_and_verified(owner):
    for number in range(60):
        owner.call("memory", "save", content=f"memo {number}")
    owner.call_unknown("nowhere", "nothing")
    page = owner.get("/admin/journal?module=memory").text
    assert page.count("memory.save") == 50
    assert "nowhere" not in page
    more = re.search(r'href="(/admin/journal\?after=[^"]+)"', page)
    assert more is not None
    assert owner.get(more[1].replace("&amp;", "&")).text.count("memory.save") == 10
    assert "nowhere.nothing" in owner.get("/admin/journal?outcome=error").text + owner.get("/admin/journal").text
    exported = owner.get("/admin/journal/export?module=memory")
    assert exported.headers["content-disposition"].startswith("attachment;")
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert len(lines) == 60
    assert {line["transport"] for line in lines} == {"web"}
    assert "The journal holds" in owner.get("/admin/journal/verify").text
    for wrong in ("x", "[1,2]", '["a","b","c"]'):
        assert owner.get("/admin/journal").status_code == 200
        assert owner.ask("GET", "/admin/journal", params={"after": wrong}).status_code == 400


def test_a_backup_is_made_verified_and_downloaded(owner, tmp_path):
    owner.call("memory", "save", content="in the backup")
    assert "There is no backup yet." in owner.get("/admin/backups").text
    assert send(owner, "/admin/backups", files="1").status_code == 303
    (name,) = owner.list_backups()
    shown = owner.get(f"/admin/backups/verify?name={name}").text
    assert "The whole backup was read" in shown
    assert f"/{name}</code>" in shown
    answer = send(owner, "/admin/backups/download", name=name)
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.content == (owner.app.home / "backups" / name).read_bytes()
    outcomes = {(entry["tool"], entry["transport"]) for entry in owner.read_journal() if entry["module"] == "admin"}
    assert {("backup.create", "web"), ("backup.download", "web")} <= outcomes


@pytest.mark.parametrize("name", ["../tokonoma.toml", "/etc/passwd", "", "none.backup"])
def test_only_a_backup_of_the_folder_is_given_out(owner, name):
    (owner.app.home / "tokonoma.toml").write_text("port = 9000\n")
    assert owner.ask("GET", "/admin/backups/verify", params={"name": name}).status_code == 404
    assert send(owner, "/admin/backups/download", name=name).status_code == 404


def test_a_damaged_backup_is_named_as_such(owner):
    send(owner, "/admin/backups")
    (name,) = owner.list_backups()
    file = owner.app.home / "backups" / name
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    shown = owner.get(f"/admin/backups/verify?name={name}")
    assert shown.status_code == 400
    assert "in order" not in shown.text


def test_settings_show_their_origin_and_no_password(open_site):
    site = open_site(sync_key="geheim-123")
    site.sign_in()
    shown = site.get("/admin/settings").text
    assert "geheim-123" not in shown
    assert "(set)" in shown
    changed = site.get("/admin/settings?changed=1").text
    assert "sync_key" in changed
    assert "rate_limit" not in changed


def test_health_shows_what_to_do(owner):
    shown = owner.get("/admin/health").text
    assert "database" in shown
    assert "In order" in shown
    assert "integrity" not in shown  # reads the whole database
    everything = owner.get("/admin/health?all=1").text
    assert "integrity" in everything
    assert "Check everything" not in everything


def test_jobs_can_be_woken(owner):
    runs: list[int] = []

    def step() -> float:
        runs.append(1)
        return 3600.0

    owner.app.jobs.start_step("sweep", step)
    while not runs:
        pass
    assert "sweep" in owner.get("/admin/jobs").text
    assert send(owner, "/admin/jobs", name="sweep").status_code == 303
    while len(runs) < 2:
        pass
    assert send(owner, "/admin/jobs", name="no such job").status_code == 404


def test_the_keyring_is_rotated(owner):
    assert send(owner, "/admin/settings").status_code == 404  # nothing is encrypted yet
    keyring = open_keyring(owner.app)
    new = NewAccount("github", "main", "/", "token")
    with owner.app.database.writing() as statements:
        account = add_account(statements, keyring, new, {"token": "geheim-123"})
    (before,) = read_data_keys(owner)
    assert send(owner, "/admin/settings").headers["location"] == "/admin/settings?notice=rotated"
    (after,) = read_data_keys(owner)
    assert before != after
    with owner.app.database.reading() as rows:
        assert read_secrets(rows, open_keyring(owner.app), account) == {"token": "geheim-123"}
    shown = owner.get("/admin/settings").text
    assert "geheim-123" not in shown
    assert "open" in shown


def read_data_keys(site):
    with site.app.database.reading() as rows:
        return rows.rows("select id from keyring_key where retired_at is null")


def test_an_owners_tool_is_for_the_owner_alone(owner):
    with pytest.raises(Denied):
        owner.parts.run_owner_tool(Caller("web", principal=Principal("person:ada", "web")), "memory", "purge", {})
