class Solution:
    def lineUp(self, names, heights):
        order = sorted(zip(names, heights), key=lambda singer: (-singer[1], singer[0].lower()))
        row = [name for name, _ in order]
        return row[1::2][::-1] + row[::2]
