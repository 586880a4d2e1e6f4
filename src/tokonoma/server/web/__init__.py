"""OAuth endpoints and pages: everything over HTTP that is not MCP. Loaded with the first request for it."""
