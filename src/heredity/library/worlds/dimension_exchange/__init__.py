"""Rift exchange: sell a small hold of goods across three dimensions whose prices come and go."""
