"""The plan: a sound text becomes steps and waves; an unsound one becomes the list of everything that is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import ToolInfo
from tokonoma.gateway.plan import parse_plan
from tokonoma.gateway.step_parser import BatchLimits

TAKES = {"q": str, "n": int, "any": object, "need": object}


def entry(name):
    schema = {"properties": {key: {} for key in TAKES}, "required": ["need"] if name == "need" else []}
    return ToolInfo(
        "m", name, f"m_{name}", name, name, "read", False, False, (), schema, {}, f"{name}(q?: str, n?: int)"
    )


def lookup(module, tool):
    if module != "m":
        raise Missing(f"There is no module called {module!r}.", reason="module", nearest=["m"])
    if tool not in ("t", "need"):
        raise Missing(f"There is no tool in m called {tool!r}.", reason="tool", nearest=["t"])
    return entry(tool)


def check(entry, params):
    problems = [
        {"field": f"{key}.deep", "message": "wrong type"}
        for key, value in params.items()
        if key in TAKES and (not isinstance(value, TAKES[key]) or isinstance(value, bool))
    ]
    problems += [{"field": key, "message": "unknown field", "allowed": [*TAKES]} for key in params if key not in TAKES]
    problems += [{"field": key, "message": "required"} for key in entry.input["required"] if key not in params]
    if problems:
        raise Invalid("bad parameters", problems=problems, signature=entry.signature)


def line(name, **more):
    return json.dumps({"id": name, "module": "m", "tool": "t", **more}, ensure_ascii=False)


def plan(*lines, limits=None):
    return parse_plan("\n".join(lines), lookup, check, limits)


def faults(*lines, limits=None):
    with pytest.raises(Invalid) as refused:
        plan(*lines, limits=limits)
    assert refused.value.reason == "plan"
    return refused.value.details["errors"]


@st.composite
def graphs(draw, most=30):
    """Steps in any order of lines, each waiting for some that come before it in another order."""
    count = draw(st.integers(1, most))
    order = draw(st.permutations([f"s{number}" for number in range(count)]))
    needs = {}
    for place, id in enumerate(order):
        needs[id] = draw(st.lists(st.sampled_from(order[:place]), unique=True, max_size=4)) if place else []
    return {id: needs[id] for id in draw(st.permutations(order))}


@st.composite
def written(draw, needs):
    """A waits-for written down: as `after` or as a reference, in one of their spellings."""
    lines = []
    for id, wanted in needs.items():
        named = [(each, draw(st.sampled_from(["after", "whole", "inside", "both"]))) for each in wanted]
        after = [each for each, how in named if how in ("after", "both")]
        texts = {"whole": "${%s.x[0]}", "inside": "see ${%s} there", "both": "${%s['k']}"}
        params = {"any": [texts[how] % each for each, how in named if how != "after"]}
        single = len(after) == 1 and draw(st.booleans())
        lines.append(line(id, after=after[0] if single else after, params=params))
    return lines


@given(graphs().flatmap(lambda needs: st.tuples(st.just(needs), written(needs))))
def test_any_graph_without_cycles_is_a_plan(drawn):
    needs, lines = drawn
    found = plan(*lines)
    assert [step.id for step in found.steps] == list(needs)
    assert [step.line for step in found.steps] == list(range(1, len(needs) + 1))
    assert {step.id: set(step.after) for step in found.steps} == {id: set(each) for id, each in needs.items()}
    wave = {id: number for number, ids in enumerate(found.levels) for id in ids}
    assert wave.keys() == needs.keys()
    for id, each in needs.items():
        assert wave[id] == max((wave[one] + 1 for one in each), default=0)


@given(graphs().flatmap(lambda needs: st.tuples(st.just(needs), st.data())))
def test_any_cycle_is_refused_and_named(drawn):
    needs, data = drawn
    ring = data.draw(st.lists(st.sampled_from([*needs]), unique=True, min_size=min(2, len(needs)), max_size=6))
    if len(ring) < 2:
        return
    for id, each in zip(ring, [*ring[1:], ring[0]], strict=True):
        needs[id] = list(dict.fromkeys([*needs[id], each]))
    found = faults(*data.draw(written(needs)))
    assert found
    for fault in found:
        cycle = fault["cycle"]
        assert len(cycle) > 1
        assert all(each in needs[id] for id, each in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        assert " → ".join([*cycle[:8]]) in fault["message"]


BROKEN = st.sampled_from(
    [
        "not json",
        "{",
        '{"id":"x"',
        "// a comment",
        "# a comment",
        "[]",
        '[{"id":"x","module":"m","tool":"t"}]',
        "null",
        "1",
        '"text"',
        "NaN",
        '{"id":"x","module":"m","tool":"t","params":{"n":NaN}}',
        '{"id":"x","module":"m","tool":"t","params":{"n":1e999}}',
        '{"id":"x","module":"m","tool":"t","params":{"q":"\\ud800"}}',
        '{"id":"x","id":"y","module":"m","tool":"t"}',
        '{"id":"x","module":"m","tool":"t","params":{"any":{"k":1,"k":1}}}',
        '{"id":"x","module":"m","tool":"t"},',
        "{'id':'x','module':'m','tool':'t'}",
        '{"id":"x","module":"m","tool":"t","params":{"any":' + "[" * 100 + "]" * 100 + "}}",
    ]
) | st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1).filter(
    lambda text: bool(text.strip()) and "{" not in text
)
WRONG = {
    "unknown field": {"tool_name": "t"},
    "no tool": {"tool": None},
    "unknown tool": {"tool": "tt"},
    "unknown module": {"module": "mm"},
    "bad parameter": {"params": {"n": "many"}},
    "unknown parameter": {"params": {"nn": 1}},
    "self": {"after": "bad"},
    "self by reference": {"params": {"q": "${bad.x}"}},
    "unknown id": {"after": ["nobody"]},
    "unknown reference": {"params": {"q": "${nobody.x}"}},
    "malformed reference": {"params": {"q": "${bad"}},
    "reference in a key": {"params": {"any": {"${s0}": 1}}},
    "output": {"output": "yes"},
    "fields": {"fields": ["a..b"], "output": True},
    "fields without output": {"fields": ["a"]},
    "time": {"time_limit": 0},
    "bad id": {"id": "a b"},
    "no id": {"id": None},
}


@given(graphs(8).flatmap(lambda needs: st.tuples(written(needs), st.data())))
def test_every_wrong_line_is_told_and_no_other(drawn):
    lines, data = drawn
    wrong = data.draw(
        st.lists(
            BROKEN | st.sampled_from(list(WRONG)).map(lambda key: line("bad", **WRONG[key])), min_size=1, max_size=5
        )
    )
    marked = [(text, False) for text in lines]
    for text in wrong:
        marked.insert(data.draw(st.integers(0, len(marked))), (text, True))
    told = {fault["line"] for fault in faults(*(text for text, _ in marked))}
    assert told == {number for number, (_, bad) in enumerate(marked, 1) if bad}


@pytest.mark.parametrize("wrong", ["no tool", "unknown tool", "unknown module"])
def test_a_step_without_its_tool_may_be_referred_to(wrong):
    told = faults(line("bad", **WRONG[wrong]), line("next", params={"q": "${bad.x}"}))
    assert [fault["line"] for fault in told] == [1]


@pytest.mark.parametrize("depth", [65, 1000, 5000, 300_000])
def test_depth_is_bounded(depth):
    nested = '{"id":"x","module":"m","tool":"t","params":{"any":' + "[" * depth + "]" * depth + "}}"
    assert [fault["line"] for fault in faults(line("a"), nested, "[" * depth, '{"a":' * depth)] == [2, 3, 4]


@given(st.text())
def test_no_text_breaks_the_reader(text):
    try:
        parse_plan(text, lookup, check)
    except Invalid as refused:
        assert refused.details["errors"]


def test_blank_lines_windows_line_ends_and_a_mark_are_fine():
    second = line("b", params={"q": "x\u2028y"})
    found = parse_plan(f"\ufeff\r\n{line('a')}\r\n  \n\t{second}  \n\n", lookup, check)
    assert [(step.id, step.line) for step in found.steps] == [("a", 2), ("b", 4)]


def test_null_means_absent():
    empty = dict.fromkeys(["params", "after", "output", "fields", "time_limit"])
    (step,) = plan(line("a", **empty)).steps
    assert (step.params, step.after, step.output, step.fields, step.time_limit) == ({}, (), False, None, None)


def test_what_a_step_asks_for_is_kept():
    asked = {"output": True, "fields": ["items.id"], "time_limit": 5, "params": {"q": "$${x}"}}
    (step,) = plan(line("a", **asked)).steps
    assert (step.output, step.fields, step.time_limit) == (True, ("items.id",), 5.0)
    (step,) = plan(line("a", fields=["*", "x"], output=True)).steps
    assert step.fields is None


def test_all_that_is_wrong_with_one_line_is_told():
    (found) = faults('{"id":"a b","tool":"t","params":[],"after":1,"output":1,"fields":"x","time_limit":true,"more":0}')
    assert {fault["line"] for fault in found} == {1}
    fields = {"id", "module", "params", "after", "output", "fields", "time_limit", "more"}
    assert {fault["field"] for fault in found} == fields
    unknown = next(fault for fault in found if fault["field"] == "more")
    assert "time_limit" in unknown["allowed"]


def test_near_names_are_offered():
    found = faults(line("search"), line("b", after="serach", toool="t"), line("c", tool="tt"), line("d", module="mm"))
    assert [fault["nearest"][0] for fault in found] == ["tool", "search", "t", "m"]
    assert [fault.get("field") for fault in found] == ["toool", "after", "tool", "module"]


def test_bad_parameters_come_with_the_signature_once_a_line():
    found = faults(line("a", params={"n": "x", "nn": 1}))
    assert [fault["field"] for fault in found] == ["params.n.deep", "params.nn"]
    assert [fault.get("signature") for fault in found] == ["t(q?: str, n?: int)", None]
    assert found[1]["allowed"] == list(TAKES)


def test_a_parameter_with_a_reference_is_left_for_later_but_its_name_is_not():
    plan(line("a"), line("b", params={"n": "${a.n}", "q": "x"}), line("c", tool="need", params={"need": "${a}"}))
    found = faults(line("a"), line("b", params={"nn": "${a.n}", "q": 1}), line("c", tool="need", params={"n": "${a}"}))
    assert [(fault["line"], fault["field"]) for fault in found] == [
        (2, "params.q.deep"),
        (2, "params.nn"),
        (3, "params.need"),
    ]


def test_escapes_are_resolved_before_parameters_are_checked():
    seen = []
    parse_plan(line("a", params={"q": "$${x}"}), lookup, lambda entry, params: seen.append(dict(params)))
    assert seen == [{"q": "${x}"}]


def test_a_broken_line_still_lends_its_id():
    found = faults('{"id":"a","module":"m","tool":"t",}', line("b", params={"q": "${a.x}"}))
    assert [(fault["line"], fault.get("id")) for fault in found] == [(1, "a")]


def test_a_cycle_is_told_even_if_its_steps_are_wrong_in_other_ways():
    found = faults(line("a", after="b", tool="tt"), line("b", after="a"), "broken")
    assert [fault["line"] for fault in found] == [1, 1, 3]
    assert sorted(next(fault["cycle"] for fault in found if "cycle" in fault)) == ["a", "b"]


def test_two_knots_are_two_cycles():
    found = faults(line("a", after="b"), line("b", after="a"), line("c", after="d"), line("d", after="c"))
    assert [sorted(fault["cycle"]) for fault in found] == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_batch_is_refused(text):
    assert faults(text)[0]["line"] == 1


def test_limits_are_named():
    assert len(plan(*(line(f"s{number}") for number in range(100))).steps) == 100
    (fault,) = faults(*(line(f"s{number}") for number in range(101)))
    assert (fault["line"], "at most 100" in fault["message"]) == (101, True)
    plan(line("a"), line("b", params={"any": ["${a}"] * 1000}))
    (fault,) = faults(line("a"), line("b", params={"any": ["${a}"] * 1001}))
    assert "more than 1000 references" in fault["message"]
    (fault,) = faults("x" * 11, limits=BatchLimits(characters=10))
    assert "at most 10 " in fault["message"]


def test_faults_are_bounded_and_counted():
    with pytest.raises(Invalid) as refused:
        plan(*(line(f"s{number}", one=1, two=2, three=3) for number in range(100)))
    assert len(refused.value.details["errors"]) == 100
    assert refused.value.details["errors_total"] == 300


MANY = 10_000


def test_ten_thousand_lines_are_refused():
    (fault,) = faults(*(line(f"s{number}") for number in range(MANY)))
    assert "10000 steps" in fault["message"]


def test_a_chain_of_ten_thousand_is_planned_and_a_ring_of_them_is_refused():
    chain = [line("s0"), *(line(f"s{number}", after=f"s{number - 1}") for number in range(1, MANY))]
    assert len(plan(*chain, limits=BatchLimits(steps=MANY)).levels) == MANY
    (fault,) = faults(line("s0", after=f"s{MANY - 1}"), *chain[1:], limits=BatchLimits(steps=MANY))
    assert f"{MANY} steps wait" in fault["message"]
    assert len(fault["cycle"]) == 100


def test_ten_thousand_unknown_references_are_told_in_a_bounded_list():
    lines = [line(f"s{number}", params={"q": f"${{x{number}.y}}"}) for number in range(MANY)]
    assert len(faults(*lines, limits=BatchLimits(steps=MANY))) == 100
