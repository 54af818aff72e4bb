class Solution:
    def lit(self, lamps, wishes):
        # What leads to a wish is the mirror of what its contrary leads to: one list of neighbours is enough for both passes.
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        seen, order = bytearray(len(then)), []
        for root in range(1, len(then)):
            if seen[root]:
                continue
            seen[root] = 1
            trail = [(root, iter(then[root]))]
            while trail:
                here, ways = trail[-1]
                for there in ways:
                    if not seen[there]:
                        seen[there] = 1
                        trail.append((there, iter(then[there])))
                        break
                else:
                    order.append(here)
                    trail.pop()
        group = [0] * len(then)
        for number, root in enumerate(reversed(order), 1):
            if group[root]:
                continue
            group[root] = number
            stack = [root]
            while stack:
                for contrary in then[-stack.pop()]:
                    if not group[-contrary]:
                        group[-contrary] = number
                        stack.append(-contrary)
        if any(group[lamp] == group[-lamp] for lamp in range(1, lamps + 1)):
            return []
        return [group[lamp] > group[-lamp] for lamp in range(1, lamps + 1)]
