"""Plain requests without a coroutine (ADR 0021). Optional: everything works without it."""
