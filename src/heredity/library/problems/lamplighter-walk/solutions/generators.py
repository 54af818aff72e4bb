class Solution:
    def walk(self, squares, lanes):
        leaving = [set() for _ in range(squares)]
        degree = [0] * squares
        for number, (a, b) in enumerate(lanes):
            leaving[a].add(number)
            leaving[b].add(number)
            degree[a] += 1
            degree[b] += 1
        odd = [square for square in range(squares) if degree[square] % 2]
        if len(odd) > 2:
            return []

        def onward(square):
            while leaving[square]:
                number = leaving[square].pop()
                a, b = lanes[number]
                other = a + b - square
                leaving[other].discard(number)
                yield other

        start = odd[0] if odd else lanes[0][0]
        trail, tour = [(start, onward(start))], []
        while trail:
            square, ways = trail[-1]
            other = next(ways, None)
            if other is None:
                tour.append(square)
                trail.pop()
            else:
                trail.append((other, onward(other)))
        return tour if len(tour) == len(lanes) + 1 else []
