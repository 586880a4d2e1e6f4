"""The server: MCP over stdio and HTTP."""
