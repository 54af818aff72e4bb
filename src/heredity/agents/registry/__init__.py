"""Serving of resources: the registry's operators over HTTP, tools and prompts over the Model Context Protocol."""

from heredity.agents.registry.connections import Connections
from heredity.agents.registry.serving import serve_resources, serve_stdio

__all__ = ["Connections", "serve_resources", "serve_stdio"]
