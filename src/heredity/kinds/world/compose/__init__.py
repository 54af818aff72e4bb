"""Worlds drawn by a seed: mechanics in the language of rules, combined and checked before use."""
