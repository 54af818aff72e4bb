class Solution:
    def halving(self, count, roads, least):
        begin = [0] * (count + 1)
        for pair in roads:
            for end in pair:
                begin[end + 1] += 1
        for i in range(count):
            begin[i + 1] += begin[i]
        at, ends, numbers = begin[:], [0] * (2 * len(roads)), [0] * (2 * len(roads))
        for number, (a, b) in enumerate(roads):
            for one, other in ((a, b), (b, a)):
                ends[at[one]], numbers[at[one]] = other, number
                at[one] += 1
        at, first, low, last = begin[:], [0] * count, [0] * count, [0] * count
        first[0] = low[0] = time = 1
        came, up, one, answer = [-1] * count, [-1] * count, 0, []
        while one >= 0:
            i = at[one]
            if i < begin[one + 1]:
                at[one] += 1
                other = ends[i]
                if numbers[i] != came[one]:
                    if first[other]:
                        low[one] = min(low[one], first[other])
                    else:
                        time += 1
                        first[other] = low[other] = time
                        came[other], up[other] = numbers[i], one
                        one = other
                continue
            above = up[one]
            if above >= 0:
                low[above] = min(low[above], low[one])
                if low[one] == first[one] and least <= time + 1 - first[one] <= count - least:
                    answer.append(came[one])
            one = above
        return sorted(answer)
