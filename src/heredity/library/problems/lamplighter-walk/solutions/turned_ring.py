from collections import deque


class Solution:
    def walk(self, squares, lanes):
        degree = [0] * squares
        for a, b in lanes:
            degree[a] += 1
            degree[b] += 1
        odd = [square for square in range(squares) if degree[square] % 2]
        if len(odd) > 2:
            return []
        # One more lane makes it a round; the round is turned until its end has a way on.
        count = len(lanes)
        whole = [*lanes, odd] if odd else lanes
        leaving = [[] for _ in range(squares)]
        for number, (a, b) in enumerate(whole):
            leaving[a].append((b, number))
            leaving[b].append((a, number))
        walked = bytearray(len(whole))
        start = whole[-1][0]
        ring, idle = deque(), 0
        here = start
        while idle <= len(ring):
            ways = leaving[here]
            while ways and walked[ways[-1][1]]:
                ways.pop()
            if ways:
                here, number = ways.pop()
                walked[number] = 1
                ring.append((here, number))
                idle = 0
            else:
                ring.rotate(-1)
                here = ring[-1][0]
                idle += 1
        if len(ring) < len(whole):
            return []
        if not odd:
            return [ring[-1][0], *(square for square, _ in ring)]
        while ring[-1][1] != count:
            ring.rotate(-1)
        return [square for square, _ in (ring[-1], *list(ring)[:-1])]
