"""Resources served: the registry's operators over HTTP, tools and prompts over the Model Context Protocol."""

from heredity.server.resources.connections import Connections
from heredity.server.resources.serving import serve_resources, serve_stdio

__all__ = ["Connections", "serve_resources", "serve_stdio"]
