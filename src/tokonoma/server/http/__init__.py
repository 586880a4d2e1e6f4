"""HTTP: `POST /mcp`, health, metrics."""
