"""Importers of evaluations that other tools recorded, so that they can be compared."""
