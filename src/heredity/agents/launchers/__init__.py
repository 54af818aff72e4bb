"""Launchers: outside coding agents, confined to their workspace."""

from heredity.agents.launchers.command import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.agents.launchers.contract import Launch, Launcher, LaunchOptions, Takes, linked
from heredity.agents.launchers.registry import agent_key, check_command, launcher
from heredity.sandbox.agent_bubblewrap import GUEST_CLIENT, available

__all__ = [
    "GUEST_CLIENT",
    "AgentExit",
    "BrokerDoor",
    "CommandAgent",
    "Launch",
    "LaunchOptions",
    "Launcher",
    "Takes",
    "agent_key",
    "available",
    "check_command",
    "launcher",
    "linked",
    "run_agent",
]
