class Solution:
    def lineUp(self, names, heights):
        rest = list(zip(names, heights))
        row = []
        while rest:
            tallest = max(height for _, height in rest)
            name = min(name for name, height in rest if height == tallest)
            rest.remove((name, tallest))
            row = [name, *row] if len(row) % 2 else [*row, name]
        return row
