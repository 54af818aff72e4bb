"""Themes: what worlds are to be about, in files, each a taskset of its own."""
