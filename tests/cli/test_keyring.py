"""`keyring`: its state, its keys, and what backups and the doctor say of it."""

import json
import re
import stat

import pytest

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.keyring.accounts import NewAccount, add_account, list_accounts, read_secrets

OTHER = "cd" * 32


@pytest.fixture
def connect(home):
    """`connect("github", "work")`: an account with a secret, as `tokonoma connect` will make it."""

    def add(provider="github", name="work", environ=None, **more):
        app = App({"home": str(home), "durable": False, "log_level": "error"}, environ or {})
        with app.write_as_owner("accounts.connect") as statements:
            new = NewAccount(provider, name, **more)
            account = add_account(statements, open_keyring(app), new, {"access_token": f"canary-{name}"})
        app.close()
        return account

    return add


def read_tokens(home, environ=None):
    app = App({"home": str(home), "durable": False, "log_level": "error"}, environ or {})
    with app.database.reading() as rows:
        found = [read_secrets(rows, open_keyring(app), each)["access_token"] for each in list_accounts(rows)]
    app.close()
    return found


def spoil(home, sql, **values):
    app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
    with app.database.writing() as statements:
        assert statements.run(sql, **values)
    app.close()


def list_tools(home):
    app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
    with app.database.reading() as rows:
        found = [tool for (tool,) in rows.rows("select tool from journal where module = 'admin' order by at")]
    app.close()
    return found


def test_an_unused_keyring_says_so_and_makes_no_key(run, value, home):
    assert value("keyring", "status", "--json")["state"] == "empty"
    for words in (["rotate"], ["rekey", "--yes"], ["export-key"]):
        result = run("keyring", *words)
        assert result.exit_code == 1
        assert "The keyring is empty" in result.stderr
        assert result.stdout == ""
    assert "keyring" not in [each["name"] for each in json.loads(run("doctor", "--json").stdout)["findings"]]
    assert not (home / "keyring.key").exists()


def test_the_status_says_where_the_key_is_and_that_it_opens_everything(run, value, connect, home):
    connect()
    told = value("keyring", "status", "--json")
    assert (told["state"], told["key"], told["secrets"]) == ("open", str(home / "keyring.key"), 1)
    assert re.fullmatch("[0-9a-f]{16}", told["fingerprint"])
    shown = run("keyring", "status").stdout
    for word in (str(home / "keyring.key"), told["fingerprint"], "open"):
        assert word in shown
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    (finding,) = [each for each in findings if each["name"] == "keyring"]
    assert finding["state"] == "ok"
    assert str(home / "keyring.key") in finding["says"]
    assert "export-key" in finding["do"]


@pytest.mark.parametrize("damage", ["wrong", "missing", "open to others", "bad form"])
def test_a_key_that_does_not_open_is_told_and_the_rest_works(run, connect, home, damage):
    connect()
    file, more = home / "keyring.key", {}
    if damage == "wrong":
        more = {"TOKONOMA_KEYRING_KEY": OTHER}
    elif damage == "missing":
        file.unlink()
    elif damage == "open to others":
        file.chmod(0o644)
    else:
        file.write_text("not a key!")
    says = {"wrong": "another master key", "missing": "is missing", "open to others": "chmod 600", "bad form": "base64"}
    result = run("keyring", "status", **more)
    assert result.exit_code == 1
    assert "state        sealed" in result.stdout
    assert says[damage] in result.stderr
    doctor = run("doctor", "--json", **more)
    assert doctor.exit_code == 1
    (finding,) = [each for each in json.loads(doctor.stdout)["findings"] if each["name"] == "keyring"]
    assert finding["state"] == "fail"
    assert says[damage] in finding["says"]
    assert OTHER not in result.output + doctor.output
    saved = run("call", "memory", "save", '{"content": "local"}', **more)
    assert saved.exit_code == 0, saved.output
    assert run("accounts", "list", **more).exit_code == 0


def test_a_damaged_secret_is_listed(run, value, connect, home):
    connect()
    connect(name="home")
    spoil(home, "update account_secret set sealed = :value where account = (select max(id) from account)", value=b"x")
    result = run("keyring", "status", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["unreadable"] == {"github/home access_token": "truncated"}
    assert "github/home access_token: cut off" in run("keyring", "status").stdout
    (finding,) = [each for each in json.loads(run("doctor", "--json").stdout)["findings"] if each["name"] == "keyring"]
    assert (finding["state"], "1 of 2 secrets" in finding["says"]) == ("fail", True)
    rotated = run("keyring", "rotate")
    assert rotated.exit_code == 1
    assert "1 secret could not be read and stayed" in rotated.stderr
    again = run("keyring", "rotate")  # what cannot be read does not keep the others from a new key
    assert "1 secret encrypted with the new data key" in again.stdout


def test_a_rotation_is_journaled_and_all_is_readable(run, connect, home):
    connect()
    connect(name="home")
    result = run("keyring", "rotate")
    assert result.stdout == "2 secrets encrypted with the new data key\n"
    assert read_tokens(home) == ["canary-home", "canary-work"]
    assert "keyring.rotate" in list_tools(home)


def test_an_interrupted_rotation_is_continued(run, value, connect, home):
    connect()
    spoil(home, "update keyring_key set retired_at = 1")
    app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
    with app.database.writing() as statements:  # a second key, as after the first transaction of a rotation
        keys = open_keyring(app)
        ((master,),) = statements.rows("select master from keyring_key")
        keys.add_data_key(statements, keys.get_master(master))
    app.close()
    told = value("keyring", "status", "--json")
    assert (told["rotating"], told["data_keys"]) == (True, 2)
    assert "is not finished" in run("keyring", "status").stderr
    result = run("keyring", "rotate")
    assert "the rest of a rotation that was interrupted" in result.stderr
    told = value("keyring", "status", "--json")
    assert (told["rotating"], told["data_keys"], told["unreadable"]) == (False, 1, {})


def test_a_new_master_key_takes_the_place_of_the_old(run, value, connect, home):
    connect()
    before = (home / "keyring.key").read_text()
    refused = run("keyring", "rekey")
    assert refused.exit_code == 1
    assert "need the earlier key" in refused.stderr
    result = run("keyring", "rekey", "--yes")
    assert result.exit_code == 0, result.output
    after = home / "keyring.key"
    assert after.read_text() != before
    assert stat.S_IMODE(after.stat().st_mode) == 0o600
    assert [each.name for each in home.iterdir() if "keyring" in each.name] == ["keyring.key"]
    assert read_tokens(home) == ["canary-work"]
    assert before.strip() not in result.output
    assert after.read_text().strip() not in result.output
    run("keyring", "rekey", "--yes", "--new-key-file", "-", stdin=OTHER)
    assert read_tokens(home, {"TOKONOMA_KEYRING_KEY": OTHER}) == ["canary-work"]
    assert read_tokens(home) == ["canary-work"]


def test_a_given_key_is_changed_with_a_file(run, connect, home, tmp_path):
    given = {"TOKONOMA_KEYRING_KEY": "ab" * 32}
    connect(environ=given)
    assert not (home / "keyring.key").exists()
    refused = run("keyring", "rekey", "--yes", **given)
    assert refused.exit_code == 1
    assert "--new-key-file" in refused.stderr
    bad = tmp_path / "bad"
    bad.write_text("hello world")
    assert "belong neither" in run("keyring", "rekey", "--yes", "--new-key-file", str(bad), **given).stderr
    assert run("keyring", "rekey", "--yes", "--new-key-file", str(tmp_path / "absent"), **given).exit_code == 1
    new = tmp_path / "new"
    new.write_text(OTHER)
    result = run("keyring", "rekey", "--yes", "--new-key-file", str(new), **given)
    assert "Now put the new key into the setting keyring_key" in result.stderr
    assert read_tokens(home, {"TOKONOMA_KEYRING_KEY_FILE": str(new)}) == ["canary-work"]


def test_the_key_is_exported_alone_and_the_journal_knows(run, connect, home):
    connect()
    result = run("keyring", "export-key")
    assert result.stdout == (home / "keyring.key").read_text()
    assert "Backups do not contain it" in result.stderr
    assert "keyring.export_key" in list_tools(home)
    key = result.stdout.strip()
    (home / "keyring.key").unlink()
    assert read_tokens(home, {"TOKONOMA_KEYRING_KEY": key}) == ["canary-work"]


def test_backups_say_that_the_key_is_not_inside(run, connect, home, tmp_path):
    file = tmp_path / "x.backup"
    connect()
    made, checked = run("backup", str(file)), run("backup", "verify", str(file))
    for result in (made, checked):
        assert "It contains 1 secret of accounts, encrypted. The key that opens them is not in it" in result.stderr
        assert "tokonoma keyring export-key" in result.stderr
    assert (home / "keyring.key").read_bytes().strip() not in file.read_bytes()
    restored = run("restore", str(file), "--yes")
    assert restored.exit_code == 0, restored.output
    assert "see `tokonoma keyring status`" in restored.stderr
    assert read_tokens(home) == ["canary-work"]


def test_a_backup_without_secrets_says_nothing_of_them(run, tmp_path):
    run("call", "system", "status")
    assert "of accounts" not in run("backup", str(tmp_path / "x.backup")).stderr


def test_the_doctor_sees_a_key_that_others_can_read(run, connect, home):
    connect()
    (home / "keyring.key").chmod(0o640)
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    (finding,) = [each for each in findings if each["name"] == "home"]
    assert str(home / "keyring.key") in finding["do"]


def test_a_moved_store_opens_with_the_same_key(run, connect, home, postgres_at):
    connect()
    result = run("move-store", postgres_at)
    assert result.exit_code == 0, result.output
    assert read_tokens(home, {"TOKONOMA_DATABASE_URL": postgres_at}) == ["canary-work"]


def test_a_recovered_store_opens_with_the_same_key(run, connect, home, tmp_path):
    connect()
    result = run("recover", str(tmp_path / "rescued"))
    assert result.exit_code == 0, result.output
    assert run("restore", str(tmp_path / "rescued" / "recovered.backup"), "--yes").exit_code == 0
    assert read_tokens(home) == ["canary-work"]
