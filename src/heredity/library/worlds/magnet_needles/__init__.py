"""Magnets and needles: lay magnets on a board so that compass needles point where they should, and fix them."""
