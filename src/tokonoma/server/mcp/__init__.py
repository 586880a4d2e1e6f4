"""MCP without input or output: messages in, messages out."""
