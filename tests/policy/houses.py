"""Houses with a policy, for tests."""

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import Grant
from tokonoma.core.policy_api import Proposal

MASKING = """
version: 1
boundary_classes:
  pii: { allow: ['answer:task'], redact: [pii] }
"""
DENYING = """
version: 2
callers: { owner: ['*'] }
boundary_classes:
  pii: { allow: ['owner:eyes'] }
labels:
  - { module: memory, space: /hr, class: secret }
"""


def enforce(app: App, yaml: str) -> str:
    with app.administer("policy.apply") as statements:
        kept = app.policing.apply(statements, Proposal(yaml), "owner")
    assert app.relabeller.settle()
    return kept.version


def key(app: App, name: str, **grant) -> str:
    with app.administer("keys.create") as statements:
        return keys.create(statements, Grant(name, **grant))
