"""Foundations for every other package: errors, ids, plugins, external files, spans and worker pools."""
