class Solution:
    def lit(self, lamps, wishes):
        # Groups by two stacks: nodes without a group, and the borders between what may still be one.
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        size = len(then)
        number, group = [-1] * size, [-1] * size
        nodes, borders = [], []
        count = groups = 0
        for root in range(1, size):
            if number[root] >= 0:
                continue
            trail = [root]
            while trail:
                here = trail[-1]
                if number[here] < 0:
                    number[here] = count
                    count += 1
                    nodes.append(here)
                    borders.append(here)
                if then[here]:
                    there = then[here].pop() % size
                    if number[there] < 0:
                        trail.append(there)
                    elif group[there] < 0:
                        while number[borders[-1]] > number[there]:
                            borders.pop()
                    continue
                trail.pop()
                if borders[-1] == here:
                    borders.pop()
                    while group[here] < 0:
                        group[nodes.pop()] = groups
                    groups += 1
        if any(group[lamp] == group[size - lamp] for lamp in range(1, lamps + 1)):
            return []
        return [group[lamp] < group[size - lamp] for lamp in range(1, lamps + 1)]
