class Solution:
    def walk(self, squares, lanes):
        # Half lane 2i leads from the lane's first end, 2i + 1 from its second; each names the next one of the same square.
        first, following, target = [-1] * squares, [], []
        degree = [0] * squares
        for a, b in lanes:
            for here, there in ((a, b), (b, a)):
                target.append(there)
                following.append(first[here])
                first[here] = len(target) - 1
                degree[here] += 1
        start, odd = lanes[0][0], 0
        for square in range(squares):
            if degree[square] & 1:
                start, odd = square, odd + 1
        if odd > 2:
            return []
        open_halves = [True] * len(target)
        trail, tour = [start], []
        while trail:
            here = trail[-1]
            half = first[here]
            while half >= 0 and not open_halves[half]:
                half = following[half]
            if half < 0:
                first[here] = half
                tour.append(trail.pop())
                continue
            first[here] = following[half]
            open_halves[half] = open_halves[half ^ 1] = False
            trail.append(target[half])
        return tour if len(tour) == len(lanes) + 1 else []
