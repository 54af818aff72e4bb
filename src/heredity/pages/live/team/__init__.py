"""Live page of a served team: plan, agents, messages, results."""

from heredity.pages.live.team.routes import page_routes

__all__ = ["page_routes"]
