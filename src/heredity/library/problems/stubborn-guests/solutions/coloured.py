class Solution:
    def lit(self, lamps, wishes):
        # Blocks of nodes on a path, joined as soon as the path comes back to one of them.
        then = [set() for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].add(b)
            then[-b].add(a)
        size = len(then)
        number, group, groups, count = [0] * size, [0] * size, 0, 0
        blocks, tops = [], []
        for root in range(1, size):
            trail = [] if number[root] else [(root, iter(then[root]))]
            while trail:
                here, ways = trail[-1]
                if not number[here]:
                    count += 1
                    number[here] = count
                    blocks.append([here])
                    tops.append(count)
                there = next(ways, 0)
                if not there:
                    trail.pop()
                    if tops[-1] == number[here]:
                        tops.pop()
                        groups += 1
                        for node in blocks.pop():
                            group[node] = groups
                elif not number[there]:
                    trail.append((there % size, iter(then[there])))
                elif not group[there]:
                    while tops[-1] > number[there]:
                        tops.pop()
                        smaller, larger = sorted((blocks.pop(), blocks.pop()), key=len)
                        larger += smaller
                        blocks.append(larger)
        if any(group[lamp] == group[-lamp] for lamp in range(1, lamps + 1)):
            return []
        return [group[lamp] < group[-lamp] for lamp in range(1, lamps + 1)]
