class Solution:
    def unwatched(self, watches):
        best, gap = 0, []
        for _, last in watches:
            if not any(start <= last < end for start, end in watches):
                after = min((start for start, _ in watches if start > last), default=last)
                if after - last > best or after - last == best and gap and last < gap[0]:
                    best, gap = after - last, [last, after]
        return gap
