"""Extends Heredity from outside: guessing numbers, and a row of lamps."""
