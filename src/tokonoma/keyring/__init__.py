"""The keyring: credentials for other services, encrypted in the database, and the accounts that they belong to."""
