class Solution:
    def walk(self, squares, lanes):
        leaving = [[] for _ in range(squares)]
        for number, (a, b) in enumerate(lanes):
            leaving[a].append((b, number))
            leaving[b].append((a, number))
        odd = [square for square in range(squares) if len(leaving[square]) % 2]
        if len(odd) > 2:
            return []
        walked = [False] * len(lanes)

        def wandered(square):
            tour = []
            while True:
                ways = leaving[square]
                while ways and walked[ways[-1][1]]:
                    ways.pop()
                if not ways:
                    return tour
                square, number = ways.pop()
                walked[number] = True
                tour.append(square)

        # A linked list of visits, into which a round is put behind the visit that it begins at.
        start = odd[0] if odd else lanes[0][0]
        visited, after = [start], [-1]

        def put_behind(visit, tour):
            rest = after[visit]
            for square in tour:
                after[visit] = len(visited)
                visit = len(visited)
                visited.append(square)
                after.append(-1)
            after[visit] = rest

        put_behind(0, wandered(start))
        visit, whole = 0, []
        while visit >= 0:
            put_behind(visit, wandered(visited[visit]))
            whole.append(visited[visit])
            visit = after[visit]
        return whole if len(whole) == len(lanes) + 1 else []
