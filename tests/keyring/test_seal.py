"""A sealed value opens where it was sealed, or says what is wrong with it."""

import os

import pytest
from conftest import SOAK
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Unavailable
from tokonoma.keyring.seal import SecretPlace, open_sealed, seal

KEY = bytes(range(32))
PLACE = SecretPlace("github", "a1", "access_token")
ROUNDS = 100 if SOAK else 12


def refuse(sealed, key=KEY, place=PLACE, key_id="k1") -> str:
    with pytest.raises(Unavailable) as told:
        open_sealed(key, place, key_id, sealed)
    assert "keyring status" in told.value.message
    return told.value.reason


@given(secret=st.binary(max_size=300), names=st.lists(st.text("abc_", min_size=1), min_size=4, max_size=4))
def test_what_was_sealed_opens_at_its_place(secret, names):
    place = SecretPlace(*names[:3])
    sealed = seal(KEY, place, names[3], secret)
    assert open_sealed(KEY, place, names[3], sealed) == secret
    assert secret not in sealed or len(secret) < 4


def test_the_same_secret_never_looks_the_same():
    assert len({seal(KEY, PLACE, "k1", b"token") for _ in range(200)}) == 200
    assert len({seal(KEY, PLACE, "k1", b"token")[13:25] for _ in range(200)}) == 200  # the nonce


def test_every_flipped_bit_is_told():
    sealed = seal(KEY, PLACE, "k1", b"ghp_0123456789")
    for bit in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        assert refuse(bytes(changed)) == "damaged", bit


def test_every_cut_is_told():
    sealed = seal(KEY, PLACE, "k1", b"ghp_0123456789")
    assert {refuse(sealed[:length]) for length in range(len(sealed))} == {"truncated"}
    assert refuse(sealed + b"\0") == "damaged"


@pytest.mark.parametrize(
    "place",
    [
        SecretPlace("notion", "a1", "access_token"),
        SecretPlace("github", "a2", "access_token"),
        SecretPlace("github", "a1", "refresh_token"),
        SecretPlace("githuba1", "", "access_token"),
    ],
    ids=lambda place: place.provider + place.account + place.field,
)
def test_a_value_of_another_place_is_told(place):
    assert refuse(seal(KEY, place, "k1", b"token")) == "swapped"


def test_a_value_of_another_key_is_told():
    assert refuse(seal(KEY, PLACE, "k2", b"token")) == "swapped"
    assert refuse(seal(os.urandom(32), PLACE, "k1", b"token")) == "damaged"


def test_swaps_flips_and_wrong_keys_are_all_told():
    """With ROUNDS random cases of each."""
    for _ in range(ROUNDS):
        secret = os.urandom(1 + os.urandom(1)[0])
        sealed = bytearray(seal(KEY, PLACE, "k1", secret))
        other = seal(KEY, SecretPlace("github", os.urandom(4).hex(), "access_token"), "k1", secret)
        assert refuse(other) == "swapped"
        assert refuse(bytes(sealed), key=os.urandom(32)) == "damaged"
        sealed[int.from_bytes(os.urandom(2), "big") % len(sealed)] ^= 1 << os.urandom(1)[0] % 8
        assert refuse(bytes(sealed)) == "damaged"
