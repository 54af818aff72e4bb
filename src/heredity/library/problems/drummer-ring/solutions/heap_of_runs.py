from heapq import heapify, heappop


class Solution:
    def coins(self, skills):
        count = len(skills)
        heap = [(skill, place) for place, skill in enumerate(skills)]
        heapify(heap)
        coins = [0] * count
        while heap:
            skill, place = heappop(heap)
            if coins[place]:
                continue
            # A flat stretch is done at once.
            left, length = place, 1
            while length < count and skills[left - 1] == skill:
                left, length = left - 1, length + 1
            right = place + 1
            while length < count and skills[right % count] == skill:
                right, length = right + 1, length + 1
            coin = 1
            if length < count:
                coin += max(coins[(left - 1) % count], coins[right % count])
            for one in range(left, left + length):
                coins[one % count] = coin
        return sum(coins)
