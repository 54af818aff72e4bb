class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        first, low, size = [0] * count, [0] * count, [1] * count
        came, at, time, answer = [-1] * count, [0] * count, 1, []
        first[0] = low[0] = 1
        stack = [0]
        while stack:
            one = stack[-1]
            if at[one] < len(around[one]):
                other, number = around[one][at[one]]
                at[one] += 1
                if number == came[one]:
                    continue
                if first[other]:
                    low[one] = min(low[one], first[other])
                else:
                    time += 1
                    first[other] = low[other] = time
                    came[other] = number
                    stack.append(other)
                continue
            stack.pop()
            if stack:
                up = stack[-1]
                low[up] = min(low[up], low[one])
                size[up] += size[one]
                if low[one] == first[one] and least <= size[one] <= count - least:
                    answer.append(came[one])
        return sorted(answer)
