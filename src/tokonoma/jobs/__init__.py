"""Background work of one process: a runner with back-off, leases and an orderly stop."""
