"""The words of the house. Everything here is plain Python: no database, no protocol, no third-party package."""
