class Solution:
    def bestTune(self, first, second):
        n, m = len(first), len(second)
        last, before, before_end = {}, {}, {}
        last_end = {}
        for total in range(n + m - 1):
            now, now_end = {}, {}
            for i in range(max(0, total - m + 1), min(n, total + 1)):
                j = total - i
                found = max(last.get(i - 1, 0), last.get(i, 0))
                if first[i] == second[j]:
                    now_end[i] = 1 + max(before.get(i - 1, 0), before_end.get(i - 1, -9) + 1)
                    found = max(found, now_end[i])
                now[i] = found
            before, before_end, last, last_end = last, last_end, now, now_end
        return last[n - 1]
