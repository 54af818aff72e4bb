"""Agent learning: methods learn on levels of worlds, judged on test levels (AutoEnv)."""
