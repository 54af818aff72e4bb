"""Logs of a user's that nobody can change unseen: the start and the end of every run, written as it happens."""
