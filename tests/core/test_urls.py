"""URLs for people: where something is, without who may reach it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.urls import NOT_A_URL, hide_credentials


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host:8080/v1", "https://host:8080/v1"),
        ("https://[2001:db8::1]:80/v1", "https://[2001:db8::1]:80/v1"),
        ("https://me:pw@host/v1?key=x#y", "https://host/v1"),
        ("postgresql:///notes?host=/run/postgresql&user=me", "postgresql:///run/postgresql/notes"),
        ("postgresql:///notes", "postgresql://localhost/notes"),
        ("postgresql://a,b:1/notes", "postgresql://a,b:1/notes"),
        ("host=x password=y", NOT_A_URL),
        ("", NOT_A_URL),
    ],
)
def test_what_is_shown_of_a_url(url, shown):
    assert hide_credentials(url) == shown


@given(st.text(st.sampled_from("a:/?#@&=% "), max_size=12))
def test_a_password_is_hidden_whatever_signs_it_has(signs):
    assert "geheim" not in hide_credentials(f"postgresql://me:{signs}geheim{signs}@host/notes")
