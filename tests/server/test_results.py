"""A finished call is answered, whatever its error holds."""

import json

import pytest

from tokonoma.core.call import Call, Caller
from tokonoma.core.errors import DEFAULT_CODES, Limited
from tokonoma.server.results import build_result


@pytest.mark.parametrize("odd", [10**30, "\ud800", object()])
def test_an_error_that_cannot_be_written_as_json_is_an_internal_error(odd):
    call = Call("memory", "get", {}, Caller("stdio"))
    result = build_result(call, Limited("Wait.", retry_after=odd), DEFAULT_CODES)
    assert result.is_error
    assert json.loads(result.content[0]["text"])["error"]["message"].startswith("Internal error")
