"""Operators: the typed steps that methods are made of."""
