"""Tokonoma: a personal context server, spoken to over MCP."""

__version__ = "0.1.0"
