"""Language models behind one small interface: providers, routing, retries, cache, usage and cost, budgets, transcripts."""

from heredity.models.contract import (
    Delta,
    Image,
    Message,
    Model,
    Reply,
    Request,
    Sampling,
    ToolCall,
    ToolSpec,
    Usage,
    streamed,
)

__all__ = [
    "Delta",
    "Image",
    "Message",
    "Model",
    "Reply",
    "Request",
    "Sampling",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "streamed",
]
