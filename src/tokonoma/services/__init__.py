"""Services: the one client that talks to other services, with the token of an account."""
