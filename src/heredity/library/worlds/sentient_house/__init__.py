"""Sentient house: open and close rooms for guests in a house that answers every change by its mood."""
