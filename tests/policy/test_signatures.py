"""Policies that must be signed: only a signer's own signature of exactly this text, version and predecessor counts."""

import base64
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tokonoma.core.errors import Denied, Unready
from tokonoma.core.policy import PolicyProposal
from tokonoma.policy.signatures import build_signed_bytes, check_signature

TEXT = "version: 1"
ANNA, BORIS = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


SIGNERS = [f"{name}:{encode(key.public_key().public_bytes_raw())}" for name, key in (("anna", ANNA), ("boris", BORIS))]
BYTES = b"tokonoma policy\nversion: 1.0.0\nfollows: 0.1.0\n\nversion: 1"
SIGNED = PolicyProposal(TEXT, approver="anna", signature=encode(ANNA.sign(BYTES)))


def test_the_signed_bytes_are_four_lines_and_the_text():
    assert build_signed_bytes(TEXT, "1.0.0", "0.1.0") == BYTES


def test_a_signature_of_a_signer_is_accepted():
    check_signature(SIGNERS, SIGNED, "1.0.0", "0.1.0")


@pytest.mark.parametrize(
    "change",
    [
        {"yaml": TEXT + " "},
        {"approver": "boris"},
        {"approver": "carol"},
        {"approver": ""},
        {"signature": ""},
        {"signature": "no base64"},
        {"signature": encode(BORIS.sign(BYTES))},
        {"signature": encode(ANNA.sign(TEXT.encode()))},
        {"signature": encode(bytes(64))},
    ],
    ids=str,
)
def test_any_other_is_refused(change):
    with pytest.raises(Denied):
        check_signature(SIGNERS, replace(SIGNED, **change), "1.0.0", "0.1.0")


@pytest.mark.parametrize(("version", "follows"), [("1.0.1", "0.1.0"), ("1.0.0", "0.1.1"), ("1.0.0", "1.0.0")])
def test_a_signature_holds_for_one_version_after_one_other(version, follows):
    with pytest.raises(Denied):
        check_signature(SIGNERS, SIGNED, version, follows)


def test_a_bad_public_key_is_named():
    with pytest.raises(Unready, match="policy_signers"):
        check_signature(["anna:c2hvcnQ="], SIGNED, "1.0.0", "0.1.0")
