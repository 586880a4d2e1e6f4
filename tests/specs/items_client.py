"""Items over the wire, in few words."""

from typing import Any

from talk import Json, Lines, Talk

from tokonoma.app import App


class Items:
    """`items.create_item(type=…)` calls a tool; `items.refused("create_item", …)` gives the error."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk

    def __getattr__(self, tool: str) -> Any:
        return lambda **params: self.talk.call("items", tool, **params)

    def refused(self, tool: str, **params: Any) -> Json:
        error = self.talk.refused("items", tool, **params)
        assert set(error) == {"code", "message", "data"}
        assert set(error["data"]) == {"type", "details", "timestamp"}
        return error

    def make(self, title: str = "An item", type: str = "issue", **more: Any) -> Json:
        return self.create_item(type=type, title=title, **more)

    def get(self, item: Json) -> Json:
        return self.get_item_detail(type=item["type"], id=item["id"])


def items_of(app: App) -> Items:
    return Items(Lines(app))
