"""The checks of `tokonoma doctor` and of the page about health. They change nothing, and create no database."""
