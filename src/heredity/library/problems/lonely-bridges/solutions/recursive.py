import sys


class Solution:
    def halving(self, count, roads, least):
        sys.setrecursionlimit(50_000)
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        first, answer = {}, []

        def visit(one, came):
            low = first[one] = len(first)
            size = 1
            for other, number in around[one]:
                if number == came:
                    continue
                if other in first:
                    low = min(low, first[other])
                else:
                    below, many = visit(other, number)
                    low = min(low, below)
                    size += many
                    if below > first[one] and least <= many <= count - least:
                        answer.append(number)
            return low, size

        visit(0, -1)
        return sorted(answer)
