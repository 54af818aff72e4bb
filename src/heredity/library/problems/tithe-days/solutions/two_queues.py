from collections import deque


class Solution:
    def collected(self, coins, days):
        # What has been taxed comes in falling order too.
        fresh, taxed, total = deque(sorted(coins, reverse=True)), deque(), 0
        for _ in range(days):
            most = (fresh if not taxed or (fresh and fresh[0] >= taxed[0]) else taxed).popleft()
            tithe = -(-most // 10)
            total += tithe
            taxed.append(most - tithe)
        return total
