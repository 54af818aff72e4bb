"""Varnholm: a town that does not exist, its web site, its archive, and questions about both (docs/local-web.md)."""
