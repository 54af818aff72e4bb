"""Launchers: coding agents from outside, confined to their workspace."""

from heredity.launchers.bubblewrap import GUEST_CLIENT, available
from heredity.launchers.command import AgentExit, CommandAgent, run_agent

__all__ = ["GUEST_CLIENT", "AgentExit", "CommandAgent", "available", "run_agent"]
