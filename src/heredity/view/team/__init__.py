"""The page of a team that is served: plan, agents, messages, results, while they come about."""

from heredity.view.team.routes import page_routes

__all__ = ["page_routes"]
