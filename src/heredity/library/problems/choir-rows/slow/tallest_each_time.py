class Solution:
    def lineUp(self, names, heights):
        rest = list(zip(names, heights))
        row = []
        while rest:
            best = min(rest, key=lambda singer: (-singer[1], singer[0]))
            rest.remove(best)
            row.insert(0 if len(row) % 2 else len(row), best[0])
        return row
