"""Satellite bays: fit modules into a live frame so that mass, power and heat allow a launch."""
