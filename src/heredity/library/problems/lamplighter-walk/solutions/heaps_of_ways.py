from heapq import heapify, heappop


class Solution:
    def walk(self, squares, lanes):
        leaving = {}
        for number, (a, b) in enumerate(lanes):
            leaving.setdefault(a, []).append((b, number))
            leaving.setdefault(b, []).append((a, number))
        for ways in leaving.values():
            heapify(ways)
        odd = sorted(square for square, ways in leaving.items() if len(ways) % 2)
        if len(odd) > 2:
            return []
        walked, tour = set(), []
        trail = [odd[0] if odd else min(leaving)]
        while trail:
            ways = leaving[trail[-1]]
            if not ways:
                tour.append(trail.pop())
                continue
            square, number = heappop(ways)
            if number not in walked:
                walked.add(number)
                trail.append(square)
        return tour[::-1] if len(tour) == len(lanes) + 1 else []
