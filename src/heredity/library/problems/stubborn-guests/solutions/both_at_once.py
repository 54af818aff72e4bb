class Solution:
    def lit(self, lamps, wishes):
        # Follow a lamp lit and dark in turns; whichever is through first is kept, so that little work is ever lost.
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        light = [None] * (lamps + 1)

        def followed(first, mine):
            queue = [first]
            mine[abs(first)] = first > 0
            for wish in queue:
                for other in then[wish]:
                    lamp, want = abs(other), other > 0
                    if light[lamp] is not None:
                        if light[lamp] != want:
                            yield False
                    elif lamp not in mine:
                        mine[lamp] = want
                        queue.append(other)
                    elif mine[lamp] != want:
                        yield False
                    yield None
            yield True

        for lamp in range(1, lamps + 1):
            if light[lamp] is not None:
                continue
            sides = [(mine, followed(wish, mine)) for wish, mine in ((lamp, {}), (-lamp, {}))]
            while sides:
                for side in list(sides):
                    mine, steps = side
                    through = next(steps)
                    if through is False:
                        sides.remove(side)
                    elif through:
                        for own, want in mine.items():
                            light[own] = want
                        sides = []
                        break
                else:
                    if not sides:
                        return []
        return light[1:]
