"""Serving of resources: the registry's operators over HTTP, tools and prompts over the Model Context Protocol."""

from heredity.agents.registry.serving import Connections, serve_resources, serve_stdio

__all__ = ["Connections", "serve_resources", "serve_stdio"]
