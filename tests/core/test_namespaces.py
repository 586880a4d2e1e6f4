"""Namespaces: resolved like folders, never above the root of a key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core import namespaces
from tokonoma.core.call import Principal
from tokonoma.core.errors import Invalid
from tokonoma.core.reach import Reach

KEY = Principal("key:k", "key", Reach(root="/team", default="/team/today"))


@pytest.mark.parametrize(
    ("asked", "namespace"),
    [
        (None, "/team/today"),
        ("", "/team/today"),
        ("x", "/team/today/x"),
        ("./x", "/team/today/x"),
        ("../x", "/team/x"),
        ("..", "/team"),
        ("/", "/team"),
        ("/x/y", "/team/x/y"),
        ("/x/../y/", "/team/y"),
    ],
)
def test_namespaces_resolve_like_folders(asked, namespace):
    assert namespaces.resolve_namespace(asked, KEY) == namespace


@pytest.mark.parametrize("asked", ["../..", "/..", "x/../../..", "a\nb"])
def test_no_namespace_leads_above_the_root(asked):
    with pytest.raises(Invalid):
        namespaces.resolve_namespace(asked, KEY)


@given(st.text(alphabet="ab./", max_size=12))
def test_whatever_is_asked_stays_inside_the_root(asked):
    try:
        namespace = namespaces.resolve_namespace(asked, KEY)
    except Invalid:
        return
    assert namespaces.is_inside(namespace, "/team")
    assert namespaces.resolve_namespace(namespaces.format_namespace(namespace, KEY), KEY) == namespace


@pytest.mark.parametrize(
    ("namespace", "root", "inside"),
    [
        ("/team", "/team", True),
        ("/team/x", "/team", True),
        ("/team2", "/team", False),
        ("/team-x/y", "/team", False),
        ("/te", "/team", False),
        ("/", "/team", False),
        ("/anything", "/", True),
    ],
)
def test_a_namespace_with_a_similar_name_is_outside(namespace, root, inside):
    assert namespaces.is_inside(namespace, root) is inside
