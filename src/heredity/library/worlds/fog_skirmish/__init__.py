"""Skirmish in fog: lead a guard and an archer against raiders and keepers that are seen only from near."""
