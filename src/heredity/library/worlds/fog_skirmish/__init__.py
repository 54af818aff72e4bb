"""Skirmish in fog: lead a guard and an archer against raiders and keepers that are visible only from nearby."""
