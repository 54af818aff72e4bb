from heapq import heapify, heappop


class Solution:
    def seated(self, count, wishes):
        # Whoever finds the seat taken gets the lowest free one.
        free, taken, answer = list(range(count)), [False] * count, []
        heapify(free)
        for wish in wishes:
            if taken[wish]:
                while taken[free[0]]:
                    heappop(free)
                wish = free[0]
            taken[wish] = True
            answer.append(wish)
        return answer
