"""Sinking columns: four in a line against an opponent of known habits, on a board whose full bottom row sinks away."""
