class Solution:
    def lineUp(self, names, heights):
        groups = {}
        for name, height in zip(names, heights):
            groups.setdefault(height, []).append(name)
        row = [name for height in sorted(groups, reverse=True) for name in sorted(groups[height])]
        return [*reversed(row[1::2]), *row[0::2]]
