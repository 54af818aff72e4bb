"""The broker: language models for sandboxed programs and coding agents, without keys, metered per run."""

from heredity.models.broker.accounts import Account, CallRecord, Ledger, Limits
from heredity.models.broker.app import BrokerApp
from heredity.models.broker.calls import Patience
from heredity.models.broker.serving import Broker, environment, serve_broker

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
