class Solution:
    def lit(self, lamps, wishes):
        # Each lamp is followed lit and dark, a step of either in turns; what is through first is granted.
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        granted = bytearray(len(then))
        for lamp in range(1, lamps + 1):
            if granted[lamp] or granted[-lamp]:
                continue
            sides, marks = ([lamp], [-lamp]), ({lamp}, {-lamp})
            nodes, ways, alive = [0, 0], [0, 0], [True, True]
            side, winner = 0, -1
            while winner < 0 and (alive[0] or alive[1]):
                queue = sides[side]
                if alive[side]:
                    wish = queue[nodes[side]]
                    if ways[side] < len(then[wish]):
                        other = then[wish][ways[side]]
                        ways[side] += 1
                        if granted[-other] or -other in marks[side]:
                            alive[side] = False
                        elif not granted[other] and other not in marks[side]:
                            marks[side].add(other)
                            queue.append(other)
                    else:
                        nodes[side], ways[side] = nodes[side] + 1, 0
                        if nodes[side] == len(queue):
                            winner = side
                side = 1 - side
            if winner < 0:
                return []
            for wish in sides[winner]:
                granted[wish] = 1
        return [granted[lamp] == 1 for lamp in range(1, lamps + 1)]
