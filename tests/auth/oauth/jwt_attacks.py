"""Tokens that must not pass: each is made from a good one, its private key, and another private key."""

import base64
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

from joserfc import jwt
from joserfc.jwk import OKPKey

Forge = Callable[["GoodToken"], str]


class GoodToken:
    """A token that passes, taken apart; `key` is what signed it."""

    def __init__(self, token: str, key: OKPKey) -> None:
        self.token, self.key = token, key
        self.head, self.body, self.signature = token.split(".")
        self.header: dict[str, Any] = json.loads(decode(self.head))
        self.claims: dict[str, Any] = json.loads(decode(self.body))

    def sign(self, claims: dict[str, Any] | None = None, key: OKPKey | None = None, **header: Any) -> str:
        """A token with a right signature of this key."""
        head = {name: value for name, value in {**self.header, **header}.items() if value is not None}
        values = self.claims if claims is None else claims
        message = f"{encode(json.dumps(head).encode())}.{encode(json.dumps(values).encode())}"
        return self.sign_message(message, key)

    def sign_message(self, message: str, key: OKPKey | None = None) -> str:
        private = (key or self.key).raw_value
        return f"{message}.{encode(private.sign(message.encode()))}"  # type: ignore[union-attr]

    def change(self, **changed: Any) -> str:
        return self.sign({name: value for name, value in {**self.claims, **changed}.items() if value is not ...})


def encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


OTHER = OKPKey.generate_key("Ed25519")


def sign_hs256(good: GoodToken, secret: bytes) -> str:
    message = f"{encode(json.dumps({**good.header, 'alg': 'HS256'}).encode())}.{good.body}"
    return f"{message}.{encode(hmac.digest(secret, message.encode(), 'sha256'))}"


def unsigned(good: GoodToken, alg: Any, signature: str = "") -> str:
    return f"{encode(json.dumps({**good.header, 'alg': alg}).encode())}.{good.body}.{signature}"


def flip(good: GoodToken) -> str:
    first = "A" if good.signature[0] != "A" else "B"
    return f"{good.head}.{good.body}.{first}{good.signature[1:]}"


def now() -> int:
    return int(time.time())


ATTACKS: dict[str, Forge] = {
    "alg none": lambda good: unsigned(good, "none"),
    "alg None": lambda good: unsigned(good, "None"),
    "alg NONE with its signature": lambda good: unsigned(good, "NONE", good.signature),
    "alg null": lambda good: unsigned(good, None, good.signature),
    "alg EdDSA": lambda good: good.sign(alg="EdDSA"),
    "alg missing": lambda good: good.sign(alg=None),
    "no signature": lambda good: f"{good.head}.{good.body}.",
    "two parts": lambda good: f"{good.head}.{good.body}",
    "five parts": lambda good: f"{good.token}.a.b",
    "signature of another message": lambda good: f"{good.sign({}).rpartition('.')[0]}.{good.signature}",
    "changed payload": lambda good: f"{good.head}.{good.change(sub='ada').split('.')[1]}.{good.signature}",
    "changed signature": flip,
    "other key": lambda good: good.sign(key=OTHER),
    "other key in the header": lambda good: good.sign(key=OTHER, jwk=OTHER.as_dict(private=False)),
    "own key in the header": lambda good: good.sign(jwk=good.key.as_dict(private=False)),
    "HS256 with the public key": lambda good: sign_hs256(good, good.key.as_bytes(encoding="PEM", private=False)),
    "HS256 with the raw public key": lambda good: sign_hs256(good, decode(str(good.key.as_dict(private=False)["x"]))),
    "HS256 with nothing": lambda good: sign_hs256(good, b""),
    "kid as a path": lambda good: good.sign(kid="../../../dev/null"),
    "kid as SQL": lambda good: good.sign(key=OTHER, kid="k1' or '1'='1"),
    "kid as a URL": lambda good: good.sign(key=OTHER, kid="https://evil.example/key"),
    "kid unknown": lambda good: good.sign(kid="k999"),
    "kid missing": lambda good: good.sign(kid=None),
    "kid a number": lambda good: good.sign(kid=1),
    "kid a list": lambda good: good.sign(kid=["k1"]),
    "kid with NUL": lambda good: good.sign(kid="k1\0"),
    "jku": lambda good: good.sign(jku="https://evil.example/jwks"),
    "x5u": lambda good: good.sign(x5u="https://evil.example/cert"),
    "crit": lambda good: good.sign(crit=["exp"], exp=1),
    "crit of nothing": lambda good: good.sign(crit=[]),
    "b64 false": lambda good: good.sign(b64=False, crit=["b64"]),
    "b64 true": lambda good: good.sign(b64=True),
    "a megabyte": lambda good: good.change(more="x" * 2**20),
    "5 KB": lambda good: good.change(more="x" * 5000),
    "garbage": lambda good: "eyJ.garbage.garbage",
    "garbage in base64": lambda good: f"ey{encode(b'x' * 20)}.{encode(b'x' * 20)}.{encode(b'x' * 64)}",
    "header a list": lambda good: good.sign_message(f"{encode(b'[1]')}.{good.body}"),
    "header nested deeply": lambda good: good.sign_message(f"{encode(b'[' * 2000)}.{good.body}"),
    "payload a list": lambda good: good.sign_message(f"{good.head}.{encode(b'[1]')}"),
    "payload not JSON": lambda good: good.sign_message(f"{good.head}.{encode(b'x')}"),
    "no exp": lambda good: good.change(exp=...),
    "exp a second ago": lambda good: good.change(exp=now() - 1),
    "exp now": lambda good: good.change(exp=now()),
    "exp a text": lambda good: good.change(exp=str(now() + 60)),
    "exp a fraction": lambda good: good.change(exp=now() + 60.5),
    "exp null": lambda good: good.change(exp=None),
    "exp true": lambda good: good.change(exp=True),
    "no iat": lambda good: good.change(iat=...),
    "iat in the future": lambda good: good.change(iat=now() + 60, exp=now() + 600),
    "other iss": lambda good: good.change(iss="https://evil.example"),
    "iss of another host": lambda good: good.change(iss="http://localhost:8722"),
    "no iss": lambda good: good.change(iss=...),
    "iss a list": lambda good: good.change(iss=[good.claims["iss"]]),
    "other aud": lambda good: good.change(aud="https://evil.example/mcp"),
    "aud the issuer": lambda good: good.change(aud=good.claims["iss"]),
    "aud as a list": lambda good: good.change(aud=[good.claims["aud"]]),
    "no aud": lambda good: good.change(aud=...),
    "both of another host": lambda good: good.change(iss="http://localhost:8722", aud="http://localhost:8722/mcp"),
    "typ JWT": lambda good: good.sign(typ="JWT"),
    "typ missing": lambda good: good.sign(typ=None),
    "typ in capitals": lambda good: good.sign(typ="AT+JWT"),
    "other grant": lambda good: good.change(grant="0000"),
    "no grant": lambda good: good.change(grant=...),
    "grant a list": lambda good: good.change(grant=[good.claims["grant"]]),
    "other person": lambda good: good.change(sub="ada"),
    "other client": lambda good: good.change(client_id="other"),
    "encrypted": lambda good: f"{good.head}.{good.body}.{good.signature}.{good.body}.{good.signature}",
    "padding": lambda good: f"{good.token}==",
    "a space": lambda good: f"{good.token} x",
    "made with the library by another key": lambda good: jwt.encode(
        {"alg": "Ed25519", "typ": "at+jwt", "kid": "k1"}, good.claims, OTHER, algorithms=["Ed25519"]
    ),
}
