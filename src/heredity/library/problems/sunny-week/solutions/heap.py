from heapq import heapify, heappop


class Solution:
    def arrival(self, days, length):
        worth = {"S": -len(days) - 1, "C": 0, "R": 1}
        now = sum(worth[letter] for letter in days[:length])
        heap = [(now, 0)]
        for day in range(length, len(days)):
            now += worth[days[day]] - worth[days[day - length]]
            heap.append((now, day - length + 1))
        heapify(heap)
        return heappop(heap)[1]
