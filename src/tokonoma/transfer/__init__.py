"""Formats of import and export. Only files are read and written here; the command line calls the server."""
