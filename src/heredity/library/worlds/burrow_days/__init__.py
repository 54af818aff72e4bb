"""Burrow days: keep a small animal fed, watered and sheltered for some days in a mostly hidden land."""
