"""A tool's signature is its contract: parser, schemas and the compact form all come from it."""

from typing import Annotated, Any, Literal, NotRequired

import jsonschema
import pytest
from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.catalogue.schemas import build_parser, input_schema, output_schema, read_description
from tokonoma.catalogue.signature_text import format_signature, format_type
from tokonoma.core.concurrency import Deferred
from tokonoma.core.errors import Invalid
from tokonoma.core.module import Tool


class Place(TypedDict):
    path: str
    line: NotRequired[int]


class Found(TypedDict):
    places: list[Place]
    note: NotRequired[str]


def look(
    desk: Any,
    query: Annotated[str, Field(max_length=10, description="what to look for")],
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    mode: Literal["a", "b"] = "a",
    place: Place | None = None,
    weight: float | None = None,
) -> Found:
    """Look for   something,
    everywhere."""
    raise AssertionError


def later(desk: Any) -> Deferred[Found]:
    """Promise."""
    raise AssertionError


LOOK = Tool("look", look, "Look")
PARSE = build_parser(LOOK, "look(…)")


def test_arguments_come_out_as_they_were_given_and_defaults_are_left_to_the_function():
    assert PARSE({"query": "x", "place": {"path": "p"}, "weight": 1}) == {
        "query": "x",
        "place": {"path": "p"},
        "weight": 1,
    }


def test_null_in_an_optional_field_means_absent():
    assert PARSE({"query": "x", "limit": None, "place": None}) == {"query": "x"}


@pytest.mark.parametrize(
    ("params", "field", "word"),
    [
        ({}, "query", "required"),
        ({"query": None}, "query", "string"),
        ({"query": "x" * 11}, "query", "10"),
        ({"query": "x", "limit": True}, "limit", "integer"),
        ({"query": "x", "limit": "5"}, "limit", "integer"),
        ({"query": "x", "limit": 101}, "limit", "100"),
        ({"query": "x", "limit": 1.5}, "limit", "integer"),
        ({"query": "x", "mode": "c"}, "mode", "'a' or 'b'"),
        ({"query": "x", "place": {"path": "p", "colour": 1}}, "place.colour", "unknown"),
        ({"query": "x", "place": {"path": 3}}, "place.path", "string"),
        ({"query": "x", "weight": "heavy"}, "weight", "number"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(params, field, word):
    with pytest.raises(Invalid) as refused:
        PARSE(params)
    (problem,) = refused.value.details["problems"]
    assert problem["field"] == field
    assert word in problem["message"]
    assert refused.value.details["signature"] == "look(…)"


def test_all_problems_come_at_once_and_unknown_fields_list_the_allowed_ones():
    with pytest.raises(Invalid) as refused:
        PARSE({"querry": "x", "limit": 0})
    problems = {each["field"]: each for each in refused.value.details["problems"]}
    assert set(problems) == {"query", "querry", "limit"}
    assert problems["querry"]["allowed"] == ["query", "limit", "mode", "place", "weight"]


def test_the_input_schema_is_flat_strict_and_valid():
    schema = input_schema(LOOK)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["query"]
    assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
    assert schema["properties"]["weight"] == {"type": "number"}
    assert "$ref" not in str(schema)
    assert "title" not in str(schema)
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & schema.keys()


def test_the_output_schema_describes_what_is_returned_or_promised():
    schema = output_schema(LOOK)
    jsonschema.validate({"places": [{"path": "x", "line": 3}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"places": [{"line": 3}]}, schema)
    assert output_schema(Tool("later", later, "Later")) == schema


def test_a_tool_without_words_or_with_a_bare_value_is_refused_when_it_is_made():
    def silent(desk: Any) -> Found: ...

    def number(desk: Any) -> int:
        """Three."""
        return 3

    with pytest.raises(TypeError, match="docstring"):
        read_description(Tool("silent", silent, "Silent"))
    with pytest.raises(TypeError, match="object"):
        output_schema(Tool("number", number, "Number"))


def test_the_compact_signature_says_the_same_in_a_line():
    text = format_signature("look", input_schema(LOOK), output_schema(LOOK), read_description(LOOK))
    assert text.splitlines() == [
        (
            'look(query: str ..10, limit?: int 1..100 = 20, mode?: "a"|"b" = "a", place?: {path: str, line?: int},'
            " weight?: num) -> {places: [{path: str, line?: int}], note?: str}"
        ),
        "  Look for something, everywhere.",
        "  query: what to look for",
    ]


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({}, "any"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{*: int}"),
        ({"type": "object", "additionalProperties": True}, "{*: any}"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "str | null"),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": 3}, "[bool] ..3"),
        ({"const": "x"}, '"x"'),
    ],
)
def test_shapes(schema, shape):
    assert format_type(schema) == shape
