"""Houses that are made from nothing, as a user's is: elsewhere the tables of a new one are copied."""

import pytest

from tokonoma.app import store
from tokonoma.store.database import open_database


@pytest.fixture(autouse=True)
def _from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "open_database", open_database)
