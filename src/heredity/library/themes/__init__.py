"""Themes that come with Heredity: `themes/offline` names those of a file."""
