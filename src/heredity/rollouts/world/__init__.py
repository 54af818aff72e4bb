"""Worlds played level by level: their runner, and world folders in processes of their own."""
