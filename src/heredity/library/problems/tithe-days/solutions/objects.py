import heapq


class House:
    def __init__(self, coins):
        self.coins = coins

    def __lt__(self, other):
        return self.coins > other.coins

    def pay(self):
        tithe = (self.coins + 9) // 10
        self.coins -= tithe
        return tithe


class Solution:
    def collected(self, coins, days):
        houses = [House(c) for c in coins]
        heapq.heapify(houses)
        total = 0
        for _ in range(days):
            total += houses[0].pay()
            heapq.heapreplace(houses, houses[0])
        return total
