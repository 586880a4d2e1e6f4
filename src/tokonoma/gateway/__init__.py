"""The three meta-tools through which every module is reached."""
