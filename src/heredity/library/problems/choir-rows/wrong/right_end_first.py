class Solution:
    def lineUp(self, names, heights):
        order = sorted(zip(names, heights), key=lambda singer: (-singer[1], singer[0]))
        row = [name for name, _ in order]
        return row[::2][::-1] + row[1::2]
