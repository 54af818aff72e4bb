class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        place, up, came, order, stack = [-1] * count, [0] * count, [-1] * count, [], [(0, 0, -1)]
        while stack:
            one, above, number = stack.pop()
            if place[one] < 0:
                place[one], up[one], came[one] = len(order), above, number
                order.append(one)
                stack += [(other, one, road) for other, road in around[one] if place[other] < 0]
        low = place[:]
        for number, (a, b) in enumerate(roads):
            if came[a] != number and came[b] != number:
                low[a], low[b] = min(low[a], place[b]), min(low[b], place[a])
        size, answer = [1] * count, []
        for one in reversed(order[1:]):
            low[up[one]] = min(low[up[one]], low[one])
            size[up[one]] += size[one]
            if low[one] == place[one] and least <= size[one] <= count - least:
                answer.append(came[one])
        return sorted(answer)
