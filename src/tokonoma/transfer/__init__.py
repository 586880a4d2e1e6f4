"""Formats of import and export. This package reads and writes files only; the command line passes functions that call
the server."""
