import heapq


class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        queue, done = [(0, 0, 0)], set()
        while queue:
            cost, used, last = heapq.heappop(queue)
            post = used.bit_count()
            if post == count:
                return cost
            if (used, last) in done:
                continue
            done.add((used, last))
            for i in range(count):
                if not used >> i & 1:
                    heapq.heappush(queue, (cost + pay[i][post] + (quarrel[last][i] if used else 0), used | 1 << i, i))
        return -1
