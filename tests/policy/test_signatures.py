"""Policies that must be signed: only a signer's own signature of exactly this text counts."""

import base64
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tokonoma.core.errors import Denied, Unready
from tokonoma.core.policy import PolicyProposal
from tokonoma.policy.current import check_signature

TEXT = "version: 1"
ANNA, BORIS = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


SIGNERS = [f"{name}:{encode(key.public_key().public_bytes_raw())}" for name, key in (("anna", ANNA), ("boris", BORIS))]
SIGNED = PolicyProposal(TEXT, approver="anna", signature=encode(ANNA.sign(TEXT.encode())))


def test_a_signature_of_a_signer_is_accepted():
    check_signature(SIGNERS, SIGNED)


@pytest.mark.parametrize(
    "change",
    [
        {"yaml": TEXT + " "},
        {"approver": "boris"},
        {"approver": "carol"},
        {"approver": ""},
        {"signature": ""},
        {"signature": "no base64"},
        {"signature": encode(BORIS.sign(TEXT.encode()))},
        {"signature": encode(bytes(64))},
    ],
    ids=str,
)
def test_any_other_is_refused(change):
    with pytest.raises(Denied):
        check_signature(SIGNERS, replace(SIGNED, **change))


def test_a_bad_public_key_is_named():
    with pytest.raises(Unready, match="policy_signers"):
        check_signature(["anna:c2hvcnQ="], SIGNED)
