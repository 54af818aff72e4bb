"""The belt: adjust heat, water and air of neighbouring regions to the needs of life, with little energy."""
