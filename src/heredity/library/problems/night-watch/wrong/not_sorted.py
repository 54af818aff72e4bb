class Solution:
    def unwatched(self, watches):
        best, gap, last = 0, [], watches[0][1]
        for start, end in watches:
            if start - last > best:
                best, gap = start - last, [last, start]
            last = max(last, end)
        return gap
