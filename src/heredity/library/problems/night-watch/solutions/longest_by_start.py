class Solution:
    def unwatched(self, watches):
        longest = {}
        for start, end in watches:
            if end > longest.get(start, 0):
                longest[start] = end
        best, gap, last = 0, [], None
        for start in sorted(longest):
            if last is not None and start - last > best:
                best, gap = start - last, [last, start]
            last = longest[start] if last is None else max(last, longest[start])
        return gap
