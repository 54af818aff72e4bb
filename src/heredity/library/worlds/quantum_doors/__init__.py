"""Quantum doors: find the way out of a maze whose entangled doors are undecided until observed."""
