"""Signed policies: where the setting names signers, a policy counts only with the signature of one of them."""

import base64
import binascii
from collections.abc import Sequence

from tokonoma.core.errors import Denied, Unready
from tokonoma.core.policy import PolicyProposal


def check_signature(signers: Sequence[str], proposal: PolicyProposal) -> None:
    """`signers` are `name:public key` (Ed25519, base64). Denied unless `approver` is one and has signed this text."""
    if not signers:
        return
    keys = {name: key for name, _, key in (each.rpartition(":") for each in signers)}
    if proposal.approver not in keys or not proposal.signature:
        raise Denied(
            "Here a policy must be signed: give `approver` (one of policy_signers) and `signature`, the base64 of the"
            " Ed25519 signature of the YAML text.",
            reason="signature",
            approvers=sorted(keys),
        )
    if not _verify_signature(keys[proposal.approver], proposal):
        told = f"The signature is not one of {proposal.approver!r} over this text. Nothing was changed."
        raise Denied(told, reason="signature")


def _verify_signature(key: str, proposal: PolicyProposal) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
    except (ValueError, binascii.Error):
        raise Unready(
            f"The public key of {proposal.approver!r} in policy_signers is not 32 bytes in base64.",
            reason="policy_signers",
        ) from None
    try:
        public.verify(base64.b64decode(proposal.signature, validate=True), proposal.yaml.encode())
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True
