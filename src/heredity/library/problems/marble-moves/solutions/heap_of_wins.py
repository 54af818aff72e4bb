import heapq


class Solution:
    def winningHeaps(self, most, handfuls):
        queue, wins = [], 0
        for heap in range(most + 1):
            won = False
            while queue and queue[0] == heap:
                heapq.heappop(queue)
                won = True
            if won:
                wins += 1
                continue
            for handful in handfuls:
                if heap + handful <= most:
                    heapq.heappush(queue, heap + handful)
        return wins
