class Solution:
    def lineUp(self, names, heights):
        order = sorted(range(len(names)), key=names.__getitem__)
        order.sort(key=lambda singer: -heights[singer])
        row = [names[singer] for singer in order]
        return row[1::2][::-1] + row[::2]
