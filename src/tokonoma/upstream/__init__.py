"""Any MCP server as a module: a client for both eras of the protocol, pinned tools, and what a call brings back."""
