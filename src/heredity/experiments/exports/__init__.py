"""Exports of runs to the formats of other tools: one reading of a run, one module for each format."""
