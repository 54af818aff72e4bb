"""Launchers: coding agents from outside, confined to their workspace."""

from heredity.launchers.bubblewrap import GUEST_CLIENT, available
from heredity.launchers.command import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.launchers.contract import Launch, Launcher
from heredity.launchers.registry import launcher

__all__ = [
    "GUEST_CLIENT",
    "AgentExit",
    "BrokerDoor",
    "CommandAgent",
    "Launch",
    "Launcher",
    "available",
    "launcher",
    "run_agent",
]
