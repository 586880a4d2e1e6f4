"""Signed policies. A signature holds for one text, as one version, after one other: none can be used a second time."""

import base64
from collections.abc import Sequence

from tokonoma.core.errors import Denied, Unready
from tokonoma.core.policy import PolicyProposal


def build_signed_bytes(yaml: str, version: str, follows: str) -> bytes:
    """What is signed: four lines, then the text of the policy as it is."""
    return f"tokonoma policy\nversion: {version}\nfollows: {follows}\n\n{yaml}".encode("utf-8", "surrogatepass")


def check_signature(signers: Sequence[str], proposal: PolicyProposal, version: str, follows: str) -> None:
    """`signers` are `name:public key` (Ed25519, base64). Denied unless `approver` is one of them and has signed this
    text for this version, with this predecessor."""
    keys = {name: key for name, _, key in (each.rpartition(":") for each in signers)}
    if proposal.approver not in keys or not proposal.signature:
        raise Denied(
            "A policy must be signed on this server: give `approver` (one of policy_signers) and `signature`, the"
            " Ed25519 signature in base64 of what `tokonoma policy sign FILE` prints. Nothing was changed.",
            reason="signature",
            approvers=sorted(keys),
        )
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(keys[proposal.approver], validate=True))
    except ValueError:
        message = f"The public key of {proposal.approver!r} in policy_signers is not 32 bytes in base64."
        raise Unready(message, reason="policy_signers") from None
    try:
        signature = base64.b64decode(proposal.signature, validate=True)
        public.verify(signature, build_signed_bytes(proposal.yaml, version, follows))
    except (InvalidSignature, ValueError):
        raise Denied(
            f"This is not a valid signature of {proposal.approver!r} for this text as version {version} after"
            f" {follows}. Sign what `tokonoma policy sign FILE` prints now. Nothing was changed.",
            reason="signature",
        ) from None


def sign_bytes(data: bytes, pem: bytes) -> str:
    """The signature in base64, by a private key in PEM."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise Unready("The key file holds no Ed25519 private key in PEM without a password.", reason="key")
    return base64.b64encode(key.sign(data)).decode()
