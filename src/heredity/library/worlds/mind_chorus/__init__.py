"""Mind chorus: bring a village of minds that sway each other into agreement, with few interventions."""
