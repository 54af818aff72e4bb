"""Mechanics shared by several worlds: grids, boards, inventories, schedules."""
