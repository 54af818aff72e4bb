"""Pairs on belts: a memory game whose rows slide when two tiles do not match."""
