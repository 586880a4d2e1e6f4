"""Settings, and where the data folder is."""
