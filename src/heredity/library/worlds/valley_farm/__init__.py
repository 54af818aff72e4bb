"""The valley farm: fields whose crops respond differently to work."""
