class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        up, came, order, seen = [0] * count, [-1] * count, [0], {0}
        for one in order:
            for other, number in around[one]:
                if other not in seen:
                    seen.add(other)
                    up[other], came[other] = one, number
                    order.append(other)
        used = set(came)
        # Any tree will do: a part below a road is numbers in a row; does a road leave them?
        size = [1] * count
        for one in reversed(order[1:]):
            size[up[one]] += size[one]
        begin, free = [0] * count, [1] * count
        for one in order[1:]:
            begin[one] = free[up[one]]
            free[up[one]] += size[one]
            free[one] = begin[one] + 1
        low, high = begin[:], begin[:]
        for number, (a, b) in enumerate(roads):
            if number not in used:
                low[a], high[a] = min(low[a], begin[b]), max(high[a], begin[b])
                low[b], high[b] = min(low[b], begin[a]), max(high[b], begin[a])
        answer = []
        for one in reversed(order[1:]):
            low[up[one]] = min(low[up[one]], low[one])
            high[up[one]] = max(high[up[one]], high[one])
            if low[one] >= begin[one] and high[one] < begin[one] + size[one] and least <= size[one] <= count - least:
                answer.append(came[one])
        return sorted(answer)
