from bisect import bisect_left


class Solution:
    def seated(self, count, wishes):
        free, answer = list(range(count)), []
        for wish in wishes:
            at = bisect_left(free, wish)
            answer.append(free.pop(at if at < len(free) else 0))
        return answer
