"""Listed names: a module that comes later never stands for a tool of another."""

from tokonoma.catalogue.registry import Registry
from tokonoma.catalogue.upstreams import build_upstream, build_upstream_tool
from tokonoma.core.call import OWNER
from tokonoma.core.module import ConnectedAccount, Module


def test_the_first_module_keeps_a_listed_name():
    def build(module: str, name: str):
        tool = build_upstream_tool(module, name, name, "A tool.", "read", False, {"type": "object"}, f"{name}()")
        return build_upstream(
            module, "A server", f"upstream:{module}@1", "", [ConnectedAccount("main", "/")], [tool], ()
        )

    def load(source: str) -> Module:
        raise AssertionError(source)

    registry = Registry([build("a_b", "c"), build("a", "b_c")], load, lambda module: None)
    assert registry.find_tool("", "a_b_c", OWNER).path == "a_b.c"
    assert registry.find_tool("a", "b_c", OWNER).path == "a.b_c"
