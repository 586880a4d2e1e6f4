"""`call` and `batch`: the whole pipeline from the command line."""

import json
import subprocess


def test_a_value_is_one_line_of_json(run):
    result = run("call", "system", "status")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["version"]
    assert result.stderr == ""


def test_parameters_from_the_line_a_file_and_a_pipe(value, tmp_path):
    value("call", "system", "status")
    file = tmp_path / "params.json"
    file.write_text('{"limit": 1}')
    for source, stdin in (('{"limit": 1}', None), (f"@{file}", None), ("-", '{"limit": 1}')):
        told = value("call", "system", "recent", source, stdin=stdin)
        assert len(told["items"]) == 1


def test_every_call_is_journaled_as_the_owners_from_the_command_line(value):
    value("call", "system", "status")
    (entry,) = value("call", "system", "recent")["items"]
    assert (entry["module"], entry["tool"], entry["outcome"]) == ("system", "status", "ok")
    assert (entry["principal"], entry["transport"]) == ("owner", "cli")


def test_a_failed_call_is_json_on_stderr_and_ends_with_1(run):
    result = run("call", "system", "recent", '{"limit": "many", "page": 2}')
    assert result.exit_code == 1
    assert result.stdout == ""
    told = json.loads(result.stderr)
    assert told["error"]["code"] == "INVALID_ARGUMENT"
    assert {each["field"] for each in told["error"]["details"]["problems"]} == {"limit", "page"}
    assert told["request_id"]


def test_a_misspelt_tool_is_answered_with_the_nearest(run):
    result = run("call", "system", "statu")
    assert result.exit_code == 1
    assert json.loads(result.stderr)["error"]["details"]["nearest"] == ["status"]


def test_what_is_no_json_object_is_a_mistake_in_the_command(run):
    for text, says in (('{"limit": }', "line 1, column 11"), ("[1]", "must be a JSON object"), ("NaN", "not JSON")):
        result = run("call", "system", "recent", text)
        assert result.exit_code == 2, text
        assert says in result.stderr


def test_a_switched_off_module_is_refused(run):
    result = run("--modules-off", "system", "call", "system", "status")
    assert result.exit_code == 1
    assert json.loads(result.stderr)["error"]["code"] == "MODULE_NOT_ALLOWED"


STEPS = (
    '{"id": "a", "module": "system", "tool": "status", "output": true, "fields": ["version"]}\n'
    '{"id": "b", "module": "system", "tool": "recent", "params": {"limit": 5}, "after": "a"}\n'
)


def test_a_batch_prints_what_was_asked_for(value, tmp_path):
    file = tmp_path / "steps.jsonl"
    file.write_text(STEPS)
    told = value("batch", str(file))
    assert told["ok"] is True
    assert list(told["results"]) == ["a"]
    assert list(told["results"]["a"]) == ["version"]
    assert value("batch", "-", stdin=STEPS)["results"] == told["results"]


def test_a_dry_run_shows_the_plan_and_runs_nothing(value):
    told = value("batch", "-", "--dry-run", stdin=STEPS)
    assert [step["status"] for step in told["steps"]] == ["planned", "planned"]
    entries = value("call", "system", "recent")["items"]
    assert [entry["tool"] for entry in entries] == ["batch"]


def test_a_batch_with_a_failed_step_prints_its_answer_and_ends_with_1(run):
    step = {"id": "a", "module": "system", "tool": "recent", "params": {"cursor": "nonsense"}}
    result = run("batch", "-", stdin=json.dumps(step))
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["steps"][0]["status"] == "error"


def test_a_batch_that_cannot_be_planned_is_refused_on_stderr(run):
    result = run("batch", "-", stdin='{"id": "a", "module": "system", "tool": "nothing"}\n{')
    assert result.exit_code == 1
    assert result.stdout == ""
    assert json.loads(result.stderr)["error"]["code"] == "INVALID_ARGUMENT"


def test_a_batch_asked_again_under_its_key_answers_the_same(value):
    first = value("batch", "-", "--idempotency-key", "once", stdin=STEPS)
    again = value("batch", "-", "--idempotency-key", "once", stdin=STEPS)
    assert again == {**first, "repeated": True}


def test_a_batch_takes_its_time_limit_from_the_command_line(run, value):
    assert value("batch", "-", "--total-time", "30", stdin=STEPS)["ok"] is True
    result = run("batch", "-", "--total-time", "601", stdin=STEPS)
    assert result.exit_code == 1
    assert "600" in json.loads(result.stderr)["error"]["message"]


def test_a_pipe_that_is_no_text_is_refused(spawned):
    how = spawned("batch", "-")
    del how["text"]
    ended = subprocess.run(**how, input=b"\xff\xfe", check=False)
    assert ended.returncode == 2
    assert b"not UTF-8" in ended.stderr
