from itertools import accumulate


class Solution:
    def days(self, jobs, rules):
        size, missing = [0] * (jobs + 1), [0] * jobs
        for a, b in rules:
            size[a + 1] += 1
            missing[b] += 1
        begin = list(accumulate(size))
        place, later = begin[:], [0] * len(rules)
        for a, b in rules:
            later[place[a]] = b
            place[a] += 1
        order, day = [a for a in range(jobs) if not missing[a]], [1] * jobs
        for a in order:
            for b in later[begin[a] : begin[a + 1]]:
                day[b] = max(day[b], day[a] + 1)
                missing[b] -= 1
                if not missing[b]:
                    order.append(b)
        return max(day) if len(order) == jobs else -1
