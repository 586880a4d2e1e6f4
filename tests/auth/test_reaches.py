"""What two reaches have in common: exactly what each of them allows. And a reach as columns."""

from dataclasses import replace

from auth.random_reaches import ACCOUNTS, KNOWN, SPACES, TOOLS, reaches
from hypothesis import example, given

from tokonoma.auth.reaches import from_columns, intersect, to_columns
from tokonoma.catalogue.visible import list_reachable
from tokonoma.core.call import Principal
from tokonoma.core.module import ConnectedAccount, ModuleInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.core.reach import UNLIMITED, Reach


def list_all(reach: Reach) -> set[tuple[str, ...]]:
    """Everything that there is for this reach, one by one."""
    found: set[tuple[str, ...]] = {("namespace", each) for each in SPACES if is_inside(each, reach.root)}
    found |= {("module", name) for name in KNOWN if reach.sees_module(name)}
    found |= {("writes in", name) for name in KNOWN if reach.may_write(name)}
    found |= {("accounts", each) for each in SPACES if reach.uses_account(each)}
    for tool in TOOLS:
        if reach.sees_tool(tool):
            found.add(("tool", tool.path))
        found |= {("tool", tool.path, each) for each in ACCOUNTS if reach.sees_tool(tool, each)}
    return found


def list_calls(reach: Reach) -> set[tuple[str, str, str]]:
    """The tools of each account, by the way that lists of tools take."""
    principal = Principal("p", "key", reach)
    found: set[tuple[str, str, str]] = set()
    for info in (each for each in KNOWN.values() if each.name in ("github", "jira")):
        for space in SPACES:
            for account in ACCOUNTS:
                one: ModuleInfo = replace(info, accounts=(ConnectedAccount(account, space),))
                found |= {(tool.path, account, space) for tool in list_reachable(one, principal)}
    return found


@given(reaches(), reaches())
@example(Reach("/team", "/team"), Reach("/team/ada", "/team/ada"))
@example(Reach(extras=frozenset({"*"})), Reach(extras=frozenset({"github.*"})))
@example(Reach(extras=frozenset({"github.*"})), Reach(extras=frozenset({"github.merge_pr"})))
def test_the_intersection_holds_exactly_what_both_hold(one, other):
    both = intersect(one, other)
    if both is None:
        assert not any(is_inside(each, one.root) and is_inside(each, other.root) for each in SPACES)
        return
    assert list_all(both) == list_all(one) & list_all(other)
    assert list_calls(both) == list_calls(one) & list_calls(other)
    assert is_inside(both.default, both.root)
    assert both.default == one.default or not is_inside(one.default, both.root)


@given(reaches(), reaches(), reaches())
def test_the_order_of_three_does_not_matter(one, other, third):
    left, right = intersect(one, other), intersect(other, third)
    left, right = left and intersect(left, third), right and intersect(one, right)
    assert (left is None) == (right is None)
    if left is not None and right is not None:
        assert list_all(left) == list_all(right)


@given(reaches())
def test_with_itself_it_stays_as_it_is(reach):
    assert intersect(reach, reach) == reach
    whole = intersect(reach, Reach(extras=frozenset({"*"})))
    # All but the accounts of others: who sees everything does not use theirs.
    assert whole == replace(reach, accounts_from="" if reach.root == "/" else "/")


def test_a_smaller_namespace_does_not_give_the_accounts_of_those_who_live_there():
    """A person of /team must not get Ada's accounts by keeping a client to /team/ada."""
    both = intersect(Reach("/team/ada", "/team/ada"), Reach("/team", "/team"))
    assert both is not None
    assert [each for each in SPACES if both.uses_account(each)] == ["/", "/team"]
    assert Reach("/team/ada", "/team/ada").uses_account("/team/ada")


@given(reaches())
def test_columns_hold_the_whole_reach(reach):
    assert from_columns(list(to_columns(reach).values())) == reach
    assert from_columns(list(to_columns(UNLIMITED).values())) == UNLIMITED


@given(reaches(), reaches())
def test_what_covers_another_allows_all_that_it_allows(one, other):
    if one.covers(other):
        assert list_all(one) >= list_all(other)
    both = intersect(one, other)
    if both is not None:
        assert one.covers(both)
        assert other.covers(both)
