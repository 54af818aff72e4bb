"""Tiles and quakes: slide tiles into a wanted pattern on a board whose rows occasionally rotate."""
