"""Teams: agents that plan and work in parallel over a bus, and improve themselves (Autogenesis, sections 4 and 5)."""

from heredity.team.bus import Bus
from heredity.team.participant import Context, EffectInDoubtError, Kind, Message, Outcome, Participant
from heredity.team.record import Record, open_record

__all__ = ["Bus", "Context", "EffectInDoubtError", "Kind", "Message", "Outcome", "Participant", "Record", "open_record"]
