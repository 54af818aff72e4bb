"""The broker: language models for sandboxed programs and coding agents, without keys, metered per run."""

from heredity.server.broker.accounts import Account, CallRecord, Ledger, Limits
from heredity.server.broker.app import BrokerApp
from heredity.server.broker.calls import Patience
from heredity.server.broker.serving import Broker, environment, serve_broker

__all__ = [
    "Account",
    "Broker",
    "BrokerApp",
    "CallRecord",
    "Ledger",
    "Limits",
    "Patience",
    "environment",
    "serve_broker",
]
