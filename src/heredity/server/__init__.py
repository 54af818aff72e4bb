"""The session over HTTP and a Unix socket, and the workspace that an outside agent sees."""

from heredity.server.agent_run import evolve_with_agent
from heredity.server.app import AgentSession, SessionApp
from heredity.server.feedback import Receipt
from heredity.server.serve import Endpoints, serve
from heredity.server.terms import Briefing, RunTerms
from heredity.server.workspace import Workspace

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
