"""Resources: what agents are made of, as immutable, content-addressed versions."""

from heredity.resources.candidate import Candidate
from heredity.resources.tree import SourceTree

__all__ = ["Candidate", "SourceTree"]
