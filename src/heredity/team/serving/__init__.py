"""Serving of a team: its tasks over HTTP, as a language model, over the Model Context Protocol and A2A."""
