"""The configuration of an experiment. Every key is known; general sections are here, a protocol's own in its folder."""
