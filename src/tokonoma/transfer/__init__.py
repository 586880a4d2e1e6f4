"""Memos in and out of files: ours and other programs'. Everything here reads and writes files alone; the house is
reached through the functions that the command line hands in."""
