"""The OAuth 2.1 authorization server: pure checks, and one transaction per request."""
