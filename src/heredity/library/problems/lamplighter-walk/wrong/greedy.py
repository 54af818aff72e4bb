class Solution:
    def walk(self, squares, lanes):
        leaving = [[] for _ in range(squares)]
        for number, (a, b) in enumerate(lanes):
            leaving[a].append((b, number))
            leaving[b].append((a, number))
        odd = [square for square in range(squares) if len(leaving[square]) % 2]
        walked, tour = set(), [odd[0] if odd else lanes[0][0]]
        while True:
            ways = leaving[tour[-1]]
            while ways and ways[-1][1] in walked:
                ways.pop()
            if not ways:
                return tour if len(tour) == len(lanes) + 1 else []
            square, number = ways.pop()
            walked.add(number)
            tour.append(square)
