"""The rule that hides a tool: said exactly where the tool is hidden."""

from dataclasses import replace

import pytest
from auth.random_reaches import ACCOUNTS, KNOWN, SPACES, TOOLS, reaches
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.catalogue.explain import AccessVerdict, explain_access, list_usable_accounts
from tokonoma.catalogue.visible import list_reachable
from tokonoma.core.call import Principal
from tokonoma.core.module import ConnectedAccount, ModuleInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.core.reach import Reach

connected = st.lists(st.builds(ConnectedAccount, st.sampled_from(ACCOUNTS), st.sampled_from(SPACES)), max_size=3)
SERVICES = ("github", "jira")


def with_accounts(info: ModuleInfo, accounts: list[ConnectedAccount]) -> ModuleInfo:
    return replace(info, accounts=tuple(accounts)) if info.name in SERVICES else info


@given(reaches(), st.integers(0, len(TOOLS) - 1), connected, st.sampled_from(SPACES))
def test_it_agrees_with_what_is_listed(reach, number, accounts, namespace):
    tool, principal = TOOLS[number], Principal("p", "key", reach)
    info = with_accounts(KNOWN[tool.module], accounts)
    is_listed = tool in list_reachable(info, principal)
    verdict = explain_access(info, tool, reach)
    assert verdict.allowed == is_listed
    assert bool(verdict.rule) != verdict.allowed
    inside = explain_access(info, tool, reach, namespace=namespace)
    assert inside.allowed == (is_listed and is_inside(namespace, reach.root))
    if info.accounts is not None:
        usable = [
            name for name in ACCOUNTS if explain_access(info, tool, reach, account=name).allowed
        ]  # fmt: skip
        seen = list_usable_accounts(info, reach, [tool]) if reach.sees_module(info.name) else []
        assert set(usable) == set(seen)
        assert bool(usable) == is_listed


@given(reaches(), st.integers(0, len(TOOLS) - 1))
def test_without_the_rule_of_a_mask_another_one_decides(reach, number):
    tool = TOOLS[number]
    info = with_accounts(KNOWN[tool.module], [ConnectedAccount("work", "/")])
    seen: list[AccessVerdict] = []
    while (verdict := explain_access(info, tool, reach)).rule == "mask":
        assert verdict not in seen
        seen.append(verdict)
        reach = replace(reach, mask=reach.mask - {verdict.value})
    assert verdict.rule in ("", "modules", "extras")


WORK = [ConnectedAccount("work", "/team")]


@pytest.mark.parametrize(
    ("path", "reach", "options", "rule", "value"),
    [
        ("memory.save", Reach(), {}, "", ""),
        ("memory.save", Reach(), {"is_disabled": True}, "modules_off", "memory"),
        ("memory.save", Reach(modules=frozenset({"items", "jira"})), {}, "modules", "items,jira"),
        ("memory.save", Reach(mask=frozenset({"memory", "*:write"})), {}, "mask", "memory"),
        ("memory.save", Reach(mask=frozenset({"memory.delete", "*:write"})), {}, "mask", "*:write"),
        ("memory.save", Reach(), {"account": "work"}, "account", "work"),
        ("memory.save", Reach("/team", "/team"), {"namespace": "/teams"}, "root", "/team"),
        ("github.merge_pr", Reach("/team", "/team"), {}, "extras", ""),
        ("github.list_prs", Reach("/team", "/team"), {}, "", ""),
        ("github.list_prs", Reach(), {}, "account", "/team"),
        ("github.list_prs", Reach("/team", "/team"), {"account": "own"}, "account", "own"),
        ("github.list_prs", Reach("/team/x", "/team/x", accounts_from="/"), {}, "account", "/team"),
        ("github.list_prs", Reach("/team", "/team", mask=frozenset({"github@work:read"})), {}, "mask",
         "github@work:read"),
    ],
)  # fmt: skip
def test_the_rule_is_named(path, reach, options, rule, value):
    [tool] = [each for each in TOOLS if each.path == path]
    verdict = explain_access(with_accounts(KNOWN[tool.module], WORK), tool, reach, **options)
    assert (verdict.rule, verdict.value, verdict.allowed) == (rule, value, not rule)
