"""No policy can be read: nothing is allowed, and the answer says whether the database is the reason."""

import pytest

from tokonoma.catalogue import CATALOGUE_FILE, read_catalogue
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Unavailable, Unready
from tokonoma.policy.active import ClosedPolicy

TOOLS = {tool.path: tool for module in read_catalogue(CATALOGUE_FILE) for tool in module.entries}


@pytest.mark.parametrize(
    ("problem", "refusal"),
    [
        (None, Unready),
        (Invalid("the stored text cannot be read"), Unready),
        (Unavailable("away", reason="database", retry_after=1), Unavailable),
    ],
)
def test_only_modules_without_records_answer(problem, refusal):
    policy = ClosedPolicy(problem)
    policy.check_allowed(OWNER, TOOLS["system.status"])
    with pytest.raises(refusal) as refused:
        policy.check_allowed(OWNER, TOOLS["memory.list"])
    assert refused.value is not problem
    if refusal is Unavailable:
        assert (refused.value.reason, refused.value.details) == ("database", {"retry_after": 1})
