"""`modules` and `schema`: what there is, from the catalogue alone."""

import jsonschema


def test_modules(run, value, home):
    assert "system" in run("modules").stdout
    module = next(each for each in value("modules", "--json") if each["name"] == "system")
    assert module["tools"] == ["status", "where", "recent", "timeline", "days", "related"]
    assert not home.exists()


def test_signatures_and_schemas(run, value, home):
    told = run("schema", "system").stdout
    assert "recent(limit?: int 1..200 = 20, cursor?: str) -> {items:" in told
    assert "listed as system_recent" in told
    tools = value("schema", "system", "--json")
    names = ["system_status", "system_where", "system_recent", "system_timeline", "system_days", "system_related"]
    assert [tool["name"] for tool in tools] == names
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    assert not home.exists()


def test_one_tool_by_any_of_its_names(run):
    for name in ("status", "system_status", "system.status"):
        assert run("schema", "system", name).stdout.startswith("status() -> ")
    result = run("schema", "system", "stats")
    assert result.exit_code == 1
    assert "'status'" in result.stderr
