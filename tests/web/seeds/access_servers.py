from web.site import Site

from tokonoma.core.ids import uuid7
from tokonoma.upstream.pins import PinnedTool
from tokonoma.upstream.servers import NewServer, ServerAccount, add_server, put_account, put_tools, set_server_state

PATH = "/admin/servers"


def fill(site: Site, text: str) -> list[str]:
    """A server that says this text wherever it can: in descriptions, names of parameters, its problem and output."""
    name = f"s_{uuid7()[-12:]}"
    said = {"name": "look", "description": text, "inputSchema": {"type": "object", "properties": {text[:60]: {}}}}
    older = {**said, "description": f"{text} before"}
    tools = [
        PinnedTool("look", "look", "changed", older, said),
        PinnedTool("fresh", "fresh", "new", {}, {**said, "name": "fresh"}),
        PinnedTool("old", "old", "gone", {**said, "name": "old"}, {}),
    ]
    with site.app.database.writing() as statements:
        details = {"summary": text[:200], "folder": text[:50], "left_out": {text[:80]: text[:300]}}
        add_server(statements, NewServer(name, ("program", text[:200]), "", details))
        put_account(statements, name, ServerAccount("main", "/"))
        put_tools(statements, name, tools)
        set_server_state(statements, name, text[:400], text)
    return [PATH, f"{PATH}/{name}", f"{PATH}/{name}/remove", f"{PATH}/add-server"]
