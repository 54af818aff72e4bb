"""Magnets and needles: lay magnets on a board so that compass needles point to their targets, and fix them."""
