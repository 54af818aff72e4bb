class Solution:
    def unwatched(self, watches):
        watches.sort(key=lambda watch: -watch[1])
        best, gap, first = 0, [], watches[0][0]
        for start, end in watches:
            if first - end >= best and first > end:
                best, gap = first - end, [end, first]
            first = min(first, start)
        return gap
