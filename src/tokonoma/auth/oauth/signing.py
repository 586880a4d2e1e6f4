"""The keys that sign access tokens. The private half is sealed by the keyring; `app` passes the functions for that.

Beside it a second secret is sealed, from which refresh tokens are derived. It stays the same when the key changes.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from joserfc.jwk import OKPKey

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Refusal

ALGORITHM = "Ed25519"
MAX_AGE = 90 * 86_400_000
"""Milliseconds after which a new key takes over."""

_CURRENT = "select kid, key_id, sealed, created_at from signing_key where retired_at is null order by created_at desc"
_INSERT = """insert into signing_key (kid, key_id, sealed, public, created_at)
values (:kid, :key_id, :sealed, :public, :at) on conflict (kid) do nothing"""


@dataclass(frozen=True, slots=True)
class SealFunctions:
    """`seal`: kid, secret → id of the data key, sealed value. `open`: kid, id of the data key, sealed value → the
    secret."""

    seal: Callable[[Statements, str, str], tuple[str, bytes]]
    open: Callable[[Rows, str, str, bytes], str]


@dataclass(frozen=True, slots=True)
class SigningKey:
    kid: str
    key: OKPKey
    refresh_secret: bytes
    created_at: int


class SigningKeys:
    """What one process has opened. `token_seconds`: how long a token is good, and so a retired key is needed."""

    def __init__(self, functions: SealFunctions, token_seconds: int) -> None:
        self._functions, self._kept = functions, token_seconds * 1000
        self._opened: SigningKey | None = None

    def use_current(self, statements: Statements) -> SigningKey:
        """The key for new tokens: made when the first is needed, and replaced when it is old."""
        key = self._read_current(statements)
        if key is None or now() - key.created_at >= MAX_AGE:
            key = self.rotate(statements, key)
        return key

    def rotate(self, statements: Statements, before: SigningKey | None) -> SigningKey:
        """Make a new key. The earlier one stays public until the last token that it has signed is over."""
        ((count,),) = statements.rows("select count(*) from signing_key")
        number = max([count, *(int(kid[1:]) for (kid,) in statements.rows("select kid from signing_key"))]) + 1
        kid = f"k{number}"  # two processes that come here together make the same number, and one of them wins
        secret = secrets.token_hex(32) if before is None else before.refresh_secret.hex()
        pair = OKPKey.generate_key(ALGORITHM)
        text = json.dumps({"key": pair.as_dict(private=True), "refresh": secret})
        key_id, sealed = self._functions.seal(statements, kid, text)
        public = json.dumps({**pair.as_dict(private=False), "kid": kid, "use": "sig", "alg": ALGORITHM})
        if statements.run(_INSERT, kid=kid, key_id=key_id, sealed=sealed, public=public, at=now()):
            statements.run(
                "update signing_key set retired_at = :at where retired_at is null and kid <> :kid", at=now(), kid=kid
            )
            statements.run("delete from signing_key where retired_at < :at", at=now() - self._kept)
        made = self._read_current(statements)
        assert made is not None, "either this process or another one has made a key"
        return made

    def list_public(self, rows: Rows) -> list[dict[str, Any]]:
        """The current key and those whose tokens may still be in use, as JWKs."""
        sql = "select public from signing_key where retired_at is null or retired_at > :at order by created_at, kid"
        return [json.loads(text) for (text,) in rows.rows(sql, at=now() - self._kept)]

    def _read_current(self, rows: Rows) -> SigningKey | None:
        row = rows.row(_CURRENT)
        if row is None:
            return None
        kid, key_id, sealed, created_at = row
        if self._opened is None or self._opened.kid != kid:
            try:
                opened = json.loads(self._functions.open(rows, kid, key_id, bytes(sealed)))
            except Refusal as error:
                if error.reason == "sealed":  # the master key is away, and may come back
                    raise
                return None  # damaged for ever: a new key takes over
            key = OKPKey.import_key(opened["key"])
            self._opened = SigningKey(kid, key, bytes.fromhex(opened["refresh"]), created_at)
        return self._opened


def reseal_keys(statements: Statements, functions: SealFunctions) -> None:
    """Seal all of them with the data key that is in use now. What does not open stays as it is: it is of no use."""
    for kid, key_id, sealed in statements.rows("select kid, key_id, sealed from signing_key {for_update}"):
        try:
            secret = functions.open(statements, kid, key_id, bytes(sealed))
        except Refusal as error:
            if error.reason == "sealed":  # the master key is away
                raise
            continue
        new_id, new_sealed = functions.seal(statements, kid, secret)
        statements.run(
            "update signing_key set key_id = :key_id, sealed = :sealed where kid = :kid",
            key_id=new_id,
            sealed=new_sealed,
            kid=kid,
        )
