"""Bytes in: what is a message, and what is wrong with the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.hostile import RAW, TABLE, deep, request
from server.memory import Talk

from tokonoma.server.mcp.message import INVALID_REQUEST, MAX_BYTES, MAX_VALUES, ProtocolError, parse_message


@pytest.mark.parametrize("name", RAW)
def test_what_is_no_message_is_refused(name):
    raw, code, id = RAW[name]
    with pytest.raises(ProtocolError) as caught:
        parse_message(raw)
    assert (caught.value.code, caught.value.id) == (code, id)


@pytest.mark.parametrize("name", TABLE)
def test_every_hostile_message_gets_its_error_and_the_next_one_its_answer(name):
    raw, code, id = TABLE[name]
    talk = Talk()
    answer = talk.ask(raw)
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", id, code)
    assert isinstance(answer["error"]["message"], str)
    assert talk.ask(request("ping", id="after"))["result"] == {}
    assert talk.silent()


def test_the_limit_on_bytes_comes_before_the_parser():
    with pytest.raises(ProtocolError, match="16777216"):
        parse_message(b"[" * (MAX_BYTES + 1))


def test_depth_64_is_still_read():
    assert parse_message(deep(64)) is not None


def test_many_brackets_are_not_depth():
    raw = json.dumps(request("ping", {"x": [[[]]] * 500})).encode()
    assert parse_message(raw) is not None


def test_a_message_as_it_should_be():
    message = parse_message(b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":{"progressToken":1}}}')
    assert message is not None
    assert (message.id, message.method, message.meta) == ("a", "ping", {"progressToken": 1})


def test_null_params_mean_none():
    message = parse_message(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}')
    assert message is not None and message.params == {}


@pytest.mark.parametrize("raw", [b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","id":1,"error":{}}'])
def test_responses_are_nobodys(raw):
    assert parse_message(raw) is None
    assert Talk().silent()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result"]), JSON) | JSON)
def test_any_json_is_a_message_or_an_error(value):
    try:
        message = parse_message(json.dumps(value).encode("utf-8", "surrogatepass"))
    except ProtocolError as problem:
        assert problem.code in (-32700, -32600, -32602)
    else:
        assert message is None or (isinstance(message.method, str) and isinstance(message.params, dict))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_an_error(raw):
    try:
        parse_message(raw)
    except ProtocolError as problem:
        assert problem.code in (-32700, -32600)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}',
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","name":"b"}}',
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"p":[{"k":1,"k":2}]}}}',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":1,"\\u0078":"\\u003a"}}',
    ],
)
def test_a_key_that_occurs_twice_is_refused_at_any_level(text):
    with pytest.raises(ProtocolError, match="occurs twice") as caught:
        parse_message(text.encode())
    assert (caught.value.code, caught.value.id) == (INVALID_REQUEST, 7)
    assert parse_message(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"{\\"x\\":1,\\"x\\":2}"}}')


@pytest.mark.parametrize("member", [b"[],", b"1,", b'"",', b"{},"])
def test_a_message_of_too_many_values_is_refused_before_it_is_parsed(member):
    raw = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[' + member * MAX_VALUES + b"1]}}"
    with pytest.raises(ProtocolError, match="more than 200000 values"):
        parse_message(raw)


def test_signs_inside_a_text_are_no_values():
    text = json.dumps(',{["\\' * MAX_VALUES)
    message = parse_message(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":%s}}' % text.encode())
    assert len(message.params["a"]) == 5 * MAX_VALUES
