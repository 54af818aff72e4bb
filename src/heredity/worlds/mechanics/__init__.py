"""Rules that several worlds are built from: grids, boards, inventories, schedules."""
