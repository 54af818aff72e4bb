class Solution:
    def halving(self, count, roads, least):
        # Villages that no road joins to what is above stay together on a stack.
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        first, low, time, held = {0: 0}, {0: 0}, 0, [0]
        way, rest, size, answer = [(0, -1)], {0: iter(around[0])}, {0: 1}, []
        while way:
            one, came = way[-1]
            for other, number in rest[one]:
                if number == came:
                    continue
                if other in first:
                    low[one] = min(low[one], first[other])
                    continue
                time += 1
                first[other] = low[other] = time
                size[other], rest[other] = 1, iter(around[other])
                held.append(other)
                way.append((other, number))
                break
            else:
                way.pop()
                if not way:
                    break
                above = way[-1][0]
                size[above] += size[one]
                if low[one] == first[one]:
                    while held.pop() != one:
                        pass
                    if min(size[one], count - size[one]) >= least:
                        answer.append(came)
                low[above] = min(low[above], low[one])
        answer.sort()
        return answer
