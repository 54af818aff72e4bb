"""Alien colony: decide for a colony what to gather, serve and build, without knowing what it thrives on."""
