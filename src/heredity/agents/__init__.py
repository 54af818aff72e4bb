"""The session over HTTP and a Unix socket, and the workspace of an outside agent."""

from heredity._core.http import Endpoints, serve
from heredity.agents.app import AgentSession, SessionApp
from heredity.agents.feedback import Receipt
from heredity.agents.run import evolve_with_agent
from heredity.agents.terms import Briefing, RunTerms
from heredity.agents.workspace import Workspace

__all__ = [
    "AgentSession",
    "Briefing",
    "Endpoints",
    "Receipt",
    "RunTerms",
    "SessionApp",
    "Workspace",
    "evolve_with_agent",
    "serve",
]
