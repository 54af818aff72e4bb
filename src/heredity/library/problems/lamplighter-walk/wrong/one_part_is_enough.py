class Solution:
    def walk(self, squares, lanes):
        leaving = [[] for _ in range(squares)]
        for number, (a, b) in enumerate(lanes):
            leaving[a].append((b, number))
            leaving[b].append((a, number))
        odd = [square for square in range(squares) if len(leaving[square]) % 2]
        if len(odd) > 2:
            return []
        walked = bytearray(len(lanes))
        trail, tour = [odd[0] if odd else lanes[0][0]], []
        while trail:
            ways = leaving[trail[-1]]
            while ways and walked[ways[-1][1]]:
                ways.pop()
            if ways:
                square, number = ways.pop()
                walked[number] = 1
                trail.append(square)
            else:
                tour.append(trail.pop())
        return tour
