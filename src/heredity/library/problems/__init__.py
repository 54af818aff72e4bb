"""Programming problems: a folder for each."""
