"""Glowing reef: learn the dialect of each kind of animal, and answer its call of light."""
