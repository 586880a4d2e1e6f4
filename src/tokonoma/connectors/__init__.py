"""Connectors: the tools of other services, one declared line each. Everything else is the same for all of them."""
