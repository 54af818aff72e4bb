"""Tiles and quakes: slide tiles into a wanted disorder on a board whose rows turn by themselves now and then."""
