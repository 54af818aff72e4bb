class Solution:
    def walk(self, squares, lanes):
        leaving = [[] for _ in range(squares)]
        for number, (a, b) in enumerate(lanes):
            leaving[a].append((number, b))
            leaving[b].append((number, a))
        odd = [square for square in range(squares) if len(leaving[square]) % 2]
        if len(odd) > 2:
            return []
        walked, tour = [False] * len(lanes), []

        def visit(square):
            ways = leaving[square]
            while ways:
                number, other = ways.pop()
                if not walked[number]:
                    walked[number] = True
                    visit(other)
            tour.append(square)

        visit(odd[0] if odd else lanes[0][0])
        return tour if len(tour) > len(lanes) else []
