from collections import deque


class Solution:
    def winningHeaps(self, most, handfuls):
        ahead = [deque() for _ in handfuls]
        wins = 0
        for heap in range(most + 1):
            won = False
            for queue in ahead:
                if queue and queue[0] == heap:
                    queue.popleft()
                    won = True
            if won:
                wins += 1
            else:
                for queue, handful in zip(ahead, handfuls):
                    queue.append(heap + handful)
        return wins
