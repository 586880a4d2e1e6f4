"""The principal behind an access token. Imported with the first one: joserfc is not needed before."""

from collections.abc import Collection

from tokonoma.auth.oauth.grants import find_holder
from tokonoma.auth.oauth.tokens import verify_token
from tokonoma.core.call import Principal
from tokonoma.core.desk import Rows


def find_bearer(rows: Rows, token: str, origins: Collection[str]) -> Principal:
    return find_holder(rows, verify_token(rows, token, origins))
