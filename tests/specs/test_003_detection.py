"""specs/003, Redact-before-Send: what is found in texts as people write them, over the wire, on both databases."""

import pytest
from policy.houses import MASKING, enforce


def read(talk, content):
    memo = talk.call("memory", "save", content=content)
    return talk.call("memory", "get", memo_id=memo["memo_id"])["content"]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("問い合わせはTEL:03-4482-9910まで", "問い合わせはTEL:[masked:phone]まで"),
        ("注文のカードは4669660000000005です", "注文のカードは[masked:card]です"),
        ("田中@example.jp と info@日本語.jp", "[masked:email] と [masked:email]"),
        ("5 Reasons Why This Way Works", "5 Reasons Why This Way Works"),
    ],
)
def test_a_caller_reads_people_masked(talk, app, content, shown):
    enforce(app, MASKING)
    assert read(talk, content) == shown


@pytest.mark.parametrize(
    "content", ["SLACK_TOKEN=q8Zk2LmX0wVtBn7YcRd1", "仮パスワード Tmp83kLqx", "recovery code is XJ4K-88QD-P2MW"]
)
def test_a_secret_as_people_note_it_is_refused(talk, content):
    assert talk.refused("memory", "save", content=content)["code"] == "PERMISSION_DENIED"


def test_a_word_in_brackets_can_be_stored_and_a_mask_cannot(talk, app):
    enforce(app, MASKING)
    words = "Write [email] where the address goes, and [key] below [card]."
    assert read(talk, words) == words
    told = talk.refused("memory", "save", content="mail [masked:email]")
    assert (told["details"]["reason"], told["details"]["kinds"]) == ("masked", ["email"])
    assert "[masked:email]" in told["message"]
