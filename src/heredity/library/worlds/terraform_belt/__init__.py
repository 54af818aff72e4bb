"""The belt: bring heat, water and air of neighbouring regions to what life needs, with little energy."""
