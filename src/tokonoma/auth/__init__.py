"""Who calls: API keys."""
