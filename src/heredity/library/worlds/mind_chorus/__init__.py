"""Mind chorus: bring a village of minds that influence each other into agreement, with few interventions."""
