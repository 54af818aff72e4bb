from collections import defaultdict


class Solution:
    def walk(self, squares, lanes):
        near = defaultdict(lambda: defaultdict(int))
        degrees = defaultdict(int)
        for a, b in lanes:
            near[a][b] += 1
            if a != b:
                near[b][a] += 1
            degrees[a] += 1
            degrees[b] += 1

        def gone(here, there):
            near[here][there] -= 1
            if not near[here][there]:
                del near[here][there]

        odd = [square for square, degree in degrees.items() if degree & 1]
        if len(odd) > 2:
            return []
        trail, tour = [odd[0] if odd else lanes[0][0]], []
        while trail:
            here = trail[-1]
            if near[here]:
                there = next(iter(near[here]))
                gone(here, there)
                if here != there:
                    gone(there, here)
                trail.append(there)
            else:
                tour.append(trail.pop())
        return tour if len(tour) == len(lanes) + 1 else []
