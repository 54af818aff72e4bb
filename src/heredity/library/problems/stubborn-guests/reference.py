class Solution:
    def lit(self, lamps, wishes):
        # Wish w is node w, and -w counts from the end. Who is not granted one wish has to be granted the other.
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        number, low, group = [0] * len(then), [0] * len(then), [0] * len(then)
        count = groups = 0
        pending = []
        for root in (*range(1, lamps + 1), *range(-lamps, 0)):
            if number[root]:
                continue
            count += 1
            number[root] = low[root] = count
            pending.append(root)
            trail = [(root, iter(then[root]))]
            while trail:
                here, ways = trail[-1]
                for there in ways:
                    if not number[there]:
                        count += 1
                        number[there] = low[there] = count
                        pending.append(there)
                        trail.append((there, iter(then[there])))
                        break
                    if not group[there] and number[there] < low[here]:
                        low[here] = number[there]
                else:
                    trail.pop()
                    if trail and low[here] < low[trail[-1][0]]:
                        low[trail[-1][0]] = low[here]
                    if low[here] == number[here]:
                        groups += 1
                        while not group[here]:
                            group[pending.pop()] = groups
        if any(group[lamp] == group[-lamp] for lamp in range(1, lamps + 1)):
            return []
        # Groups are complete in the order from what follows to what it follows from.
        return [group[lamp] < group[-lamp] for lamp in range(1, lamps + 1)]
