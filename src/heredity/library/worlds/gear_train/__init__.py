"""Gear train: choose gears from a box so that the last shaft turns at an exact ratio."""
