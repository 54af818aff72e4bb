class Solution:
    def lineUp(self, names, heights):
        row = []
        for name, _ in sorted(zip(names, heights), key=lambda singer: (-singer[1], singer[0])):
            row.insert(0 if len(row) % 2 else len(row), name)
        return row
