class Solution:
    def lineUp(self, names, heights):
        row = [name for _, name in sorted(zip(heights, names), reverse=True)]
        return row[1::2][::-1] + row[::2]
