from collections import Counter


class Solution:
    def walk(self, squares, lanes):
        # First whether there is a walk at all: one part, at most two odd squares. Then it needs no look back.
        above = list(range(squares))

        def root(x):
            while above[x] != x:
                above[x] = x = above[above[x]]
            return x

        degree = Counter()
        for a, b in lanes:
            degree[a] += 1
            degree[b] += 1
            above[root(a)] = root(b)
        odd = [square for square, ways in degree.items() if ways % 2]
        if len(odd) > 2 or len({root(a) for a, _ in lanes}) > 1:
            return []
        leaving = {square: {} for square in degree}
        for number, (a, b) in enumerate(lanes):
            leaving[a][number] = b
            leaving[b][number] = a
        trail, tour = [(odd or [lanes[0][0]])[0]], []
        while trail:
            ways = leaving[trail[-1]]
            if ways:
                number, other = ways.popitem()
                leaving[other].pop(number, None)
                trail.append(other)
            else:
                tour.append(trail.pop())
        return tour
