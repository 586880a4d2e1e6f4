"""MCP servers as the catalogue describes modules."""

from tokonoma.catalogue.signature_text import format_signature
from tokonoma.catalogue.upstreams import ANY_OBJECT, SOURCE, build_upstream, build_upstream_tool
from tokonoma.core.module import ModuleInfo
from tokonoma.upstream.describe import OfferedTool, describe_summary, find_own_tool, list_offered, list_prompts
from tokonoma.upstream.servers import UpstreamServer, to_connected


def describe_servers(servers: list[UpstreamServer]) -> list[ModuleInfo]:
    """The modules of the servers that have something approved."""
    return [info for server in servers if (info := describe_server(server)).entries]


def describe_server(server: UpstreamServer) -> ModuleInfo:
    tools = [
        build_upstream_tool(
            server.name, each.name, each.title, each.description, each.effect, each.idempotent, each.input,
            _format_signature(each),
        )
        for each in list_offered(server)
    ]  # fmt: skip
    read_tool = find_own_tool(server, "read_resource")
    # The revision is part of the source: code that was loaded for an earlier one is not used again.
    source = f"{SOURCE}{server.name}@{server.revision}"
    connected = to_connected(server)
    return build_upstream(
        server.name, describe_summary(server), source, read_tool, connected, tools, list_prompts(server)
    )


def _format_signature(tool: OfferedTool) -> str:
    return format_signature(tool.name, tool.input, ANY_OBJECT, tool.description)
