"""Types and protocols that every room shares. Standard library only: no database, no protocol, no other package."""
