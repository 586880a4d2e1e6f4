"""Houses with a policy, for tests."""

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.core.policy_api import PolicyProposal

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
    with app.write_as_owner("policy.apply") as statements:
        kept = app.policies.apply(statements, PolicyProposal(yaml), "owner")
    assert app.reclassifier.run_until_done()
    return kept.version


def key(app: App, name: str, **grant) -> str:
    with app.write_as_owner("keys.create") as statements:
        return keys.create_key(statements, name, build_reach(**grant))
