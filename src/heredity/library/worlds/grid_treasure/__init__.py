"""Treasure in the dark: find a treasure in a maze with only nearby cells visible."""
