"""Authorization codes: stored as a hash, good once, for a minute."""

import secrets

from tokonoma.auth.oauth.model import AuthorizationRequest, hash_secret
from tokonoma.auth.reaches import to_columns
from tokonoma.core.clock import now
from tokonoma.core.desk import Statements
from tokonoma.core.reach import Reach

CODE_SECONDS = 60
_KEPT = 86_400_000  # milliseconds: a code that is used again much later is still known as used

_INSERT = """insert into oauth_code (hash, client, redirect, challenge, resource, scope, person, root, start, modules,
mask, extras, expires_at) values (:hash, :client, :redirect, :challenge, :resource, :scope, :person, :root, :start,
:modules, :mask, :extras, :expires_at)"""


def save_code(statements: Statements, request: AuthorizationRequest, person_id: str, reach: Reach) -> str:
    """Store a new code for what the person has agreed to, and return it."""
    code, at = secrets.token_urlsafe(32), now()
    statements.run("delete from oauth_code where expires_at < :at", at=at - _KEPT)
    statements.run("update oauth_client set used_at = :at where id = :id", at=at, id=request.client_id)
    statements.run(
        _INSERT,
        hash=hash_secret(code),
        client=request.client_id,
        redirect=request.redirect_uri,
        challenge=request.challenge,
        resource=request.resource,
        scope=request.scope,
        person=person_id,
        expires_at=at + CODE_SECONDS * 1000,
        **to_columns(reach),
    )
    return code
