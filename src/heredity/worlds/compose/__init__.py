"""Worlds that are drawn: mechanics of the language of rules, put together by a seed, checked before they are used."""
