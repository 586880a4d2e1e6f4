"""Trying tools: forms from schemas, results, errors, copies, and batches with their plan."""

import html
import json
import re
import shlex

import pytest

from tokonoma.core.errors import Invalid
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.plan import draw_plan
from tokonoma.server.web.pages.tool_form import build_params, list_fields

SCHEMA = {
    "type": "object",
    "required": ["content", "count"],
    "properties": {
        "flag": {"type": "boolean", "default": True},
        "content": {"type": "string", "description": "what to store"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "share": {"type": "number"},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "short": {"type": "string", "maxLength": 100},
    },
}


def test_a_schema_becomes_a_form():
    fields = {field.name: field for field in list_fields(SCHEMA, {"short": "typed"})}
    assert list(fields)[:2] == ["content", "count"]
    assert {name: field.kind for name, field in fields.items()} == {
        "content": "long",
        "count": "integer",
        "flag": "boolean",
        "share": "number",
        "mode": "choice",
        "names": "json",
        "either": "json",
        "short": "text",
    }
    assert (fields["count"].least, fields["count"].most, fields["count"].required) == (1, 9, True)
    assert (fields["flag"].choices, fields["flag"].default) == (("true", "false"), "true")
    assert fields["either"].type == "string or array of string"
    assert fields["short"].value == "typed"


def test_what_was_typed_becomes_parameters():
    typed = {
        "content": "a\nb",
        "count": "3",
        "share": "0.5",
        "flag": "false",
        "mode": "b",
        "names": '["x"]',
        "short": "",
    }
    assert build_params(SCHEMA, typed) == {
        "content": "a\nb",
        "count": 3,
        "share": 0.5,
        "flag": False,
        "mode": "b",
        "names": ["x"],
    }
    assert build_params(SCHEMA, {}) == {"content": ""}
    for wrong in ({"names": "[x"}, {"flag": "1"}, {"count": "many"}):
        with pytest.raises(Invalid):
            build_params(SCHEMA, wrong)


@pytest.fixture
def opened(site):
    site.sign_in()
    return site, site.find_token()


def read_code(text: str, before: str) -> str:
    """The text of the first code block after `before`."""
    found = re.search(r"<code[^>]*>(.*?)</code>", text.partition(before)[2], re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def test_every_tool_has_a_form(opened):
    site, _ = opened
    paths = re.findall(r'href="(/admin/try\?tool=[^"]+)"', site.get("/admin/try").text)
    assert len(paths) > 60
    for path in paths:
        page = site.get(path)
        assert page.status_code == 200, path
        assert 'name="token"' in page.text


def test_a_tool_runs_and_shows_its_result_and_copies(opened):
    site, token = opened
    form = {"token": token, "tool": "memory.save", "p.content": "It's stored\r\nhere", "p.metadata": '{"a": 1}'}
    page = site.post("/admin/try", form)
    assert page.status_code == 200
    result = json.loads(read_code(page.text, 'id="result"'))
    (memo,) = site.call("memory", "list")["items"]
    assert memo["memo_id"] == result["memo_id"]
    assert site.call("memory", "get", memo_id=memo["memo_id"])["content"] == "It's stored\nhere"
    line = shlex.split(read_code(page.text, "<summary>tokonoma call"))
    assert line[:4] == ["tokonoma", "call", "memory", "save"]
    assert json.loads(line[4]) == {"content": "It's stored\nhere", "metadata": {"a": 1}}
    curl = shlex.split(read_code(page.text, "<summary>curl").replace("\\\n", " "))
    assert curl[:2] == ["curl", f"{site.origin}/mcp"]
    arguments = json.loads(curl[-1])["params"]["arguments"]
    assert arguments == {"module": "memory", "tool_name": "save", "params": json.loads(line[4])}
    python = read_code(page.text, "<summary>Python")
    compile(python, "copied", "exec")
    assert repr("It's stored\nhere") in python
    journal = [each for each in site.read_journal() if each["tool"] == "save"]
    assert [each["transport"] for each in journal] == ["web"]


def test_errors_are_shown_as_they_are_and_nothing_typed_is_lost(opened):
    site, token = opened
    page = site.post("/admin/try", {"token": token, "tool": "memory.get", "p.memo_id": "not there"})
    assert page.status_code in (400, 404)
    error = json.loads(read_code(page.text, 'id="refused"'))
    assert error["kind"] in ("invalid", "missing")
    assert error["message"]
    assert 'value="not there"' in page.text
    wrong = site.post("/admin/try", {"token": token, "tool": "memory.save", "p.content": "kept", "p.metadata": "{"})
    assert wrong.status_code == 400
    assert "metadata: this is no JSON." in wrong.text
    assert "\nkept</textarea>" in wrong.text


def test_what_can_delete_needs_a_tick(opened):
    site, token = opened
    memo = site.call("memory", "save", content="stays")["memo_id"]
    form = {"token": token, "tool": "memory.delete", "p.memo_id": memo}
    page = site.post("/admin/try", form)
    assert page.status_code == 400
    assert "Tick the box to run it." in page.text
    assert len(site.call("memory", "list")["items"]) == 1
    assert site.post("/admin/try", {**form, "sure": "1"}).status_code == 200
    assert site.call("memory", "list")["items"] == []


@pytest.mark.parametrize("tool", ["memory", "gateway.batch", "gateway.search", "nothing.at_all", "memory.nothing", "."])
def test_only_tools_of_modules_can_be_tried(opened, tool):
    site, token = opened
    assert site.get(f"/admin/try?tool={tool}").status_code == 404
    assert site.post("/admin/try", {"token": token, "tool": tool}).status_code == 404


def test_a_person_tries_only_what_the_reach_holds(opened):
    site, _ = opened
    site.add_person(
        "ada", reach=Reach("/", "/", frozenset({"memory"}), frozenset({"*:write", "*:destroy"}), frozenset())
    )
    site.cookies.clear()
    site.sign_in("ada")
    listed = re.findall(r"tool=([a-z_.]+)", site.get("/admin/try").text)
    assert "memory.search" in listed
    assert not [each for each in listed if not each.startswith("memory.") or each in ("memory.save", "memory.delete")]
    form = {"token": site.find_token(), "tool": "memory.save", "p.content": "x"}
    assert site.post("/admin/try", form).status_code in (403, 404)
    batch = '{"id": "a", "module": "memory", "tool": "save", "params": {"content": "x"}}'
    assert site.post("/admin/try/batch", {"token": form["token"], "jsonl": batch, "run": "1"}).status_code == 400
    assert site.call("memory", "list")["items"] == []


LINES = [
    {"id": "a", "module": "memory", "tool": "save", "params": {"content": "first"}},
    {"id": "b", "module": "memory", "tool": "get", "params": {"memo_id": "${a.memo_id}"}, "output": True},
    {"id": "c", "module": "memory", "tool": "get", "params": {"memo_id": "nothing"}},
    {"id": "d", "module": "memory", "tool": "get", "params": {"memo_id": "${c.memo_id}"}},
]
JSONL = "\n".join(json.dumps(line) for line in LINES)


def list_states(text: str) -> list[str]:
    return re.findall(r'<td><b class="tag [^"]*">([^<]+)</b>', text)


def test_a_batch_is_drawn_before_it_runs(opened):
    site, token = opened
    page = site.post("/admin/try/batch", {"token": token, "jsonl": JSONL})
    assert page.status_code == 200
    assert "4 steps in 2 waves" in page.text
    assert page.text.count('class="wire"') == 2
    assert list_states(page.text) == ["planned"] * 4
    assert 'name="run"' in page.text
    assert site.call("memory", "list")["items"] == []


def test_a_batch_shows_how_each_step_ended(opened):
    site, token = opened
    page = site.post("/admin/try/batch", {"token": token, "jsonl": JSONL, "run": "1"})
    assert list_states(page.text) == ["done", "done", "failed", "skipped"]
    assert json.loads(read_code(page.text, "<h3>b</h3>"))["content"] == "first"
    assert "message" in json.loads(read_code(page.text, "<h3>c</h3>"))
    assert {"step-ok", "step-error", "step-skipped"} <= set(re.findall(r"step-[a-z]+", page.text))
    assert len(site.call("memory", "list")["items"]) == 1


def test_mistakes_in_a_batch_are_named_by_line(opened):
    site, token = opened
    page = site.post("/admin/try/batch", {"token": token, "jsonl": '{"id": "a", "module": "memory", "tool": "sav"}\n{'})
    assert page.status_code == 400
    assert re.findall(r'bad-tag">(line \d)</b>', page.text) == ["line 1", "line 2"]
    assert "Did you mean" in page.text
    assert "&#34;sav&#34;}\n{</textarea>" in page.text


def test_a_plan_holds_no_markup_of_its_steps():
    step = {"id": "<b>", "wave": 1, "module": "m", "tool": "x" * 60, "after": [], "status": "planned"}
    picture = str(draw_plan([step], 'A "plan"'))
    assert "<b>" not in picture
    assert "&lt;b&gt;" in picture
    assert f"{'m.' + 'x' * 18}…" in picture
    assert 'aria-label="A &#34;plan&#34;"' in picture
