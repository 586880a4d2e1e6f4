"""Plain: a string that is no text of anybody's (an id, a hash, an address, a time), so nothing in it is masked."""

from typing import Annotated


class OpaqueMarker:
    """Stands in an annotation; pydantic passes over what it does not know."""


OPAQUE = OpaqueMarker()
Opaque = Annotated[str, OPAQUE]
