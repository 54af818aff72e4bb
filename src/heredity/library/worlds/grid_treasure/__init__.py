"""Treasure in the dark: find a treasure in a maze of which only the near surroundings are seen."""
