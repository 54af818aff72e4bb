"""Sentient house: open and close rooms for guests in a house that responds to every change according to its mood."""
