class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        begin = [0] * (count + 1)
        for a, b, _ in roads:
            begin[a + 1] += 1
            begin[b + 1] += 1
        for i in range(count):
            begin[i + 1] += begin[i]
        free, ends, lengths = begin[:], [0] * (2 * len(roads)), [0] * (2 * len(roads))
        for a, b, minutes in roads:
            ends[free[a]], lengths[free[a]] = b, minutes
            free[a] += 1
            ends[free[b]], lengths[free[b]] = a, minutes
            free[b] += 1

        def distances(start):
            far, order = [-1] * count, [start]
            far[start] = 0
            for at in order:
                for i in range(begin[at], begin[at + 1]):
                    if far[ends[i]] < 0:
                        far[ends[i]] = far[at] + lengths[i]
                        order.append(ends[i])
            return far

        far = distances(inns[0])
        one = distances(max((far[inn], inn) for inn in inns)[1])
        other = distances(max((one[inn], inn) for inn in inns)[1])
        return [a if a > b else b for a, b in zip(one, other)]
