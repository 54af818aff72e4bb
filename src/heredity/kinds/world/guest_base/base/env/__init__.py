"""The three layers of an environment, its observation policies, generators and validators."""
