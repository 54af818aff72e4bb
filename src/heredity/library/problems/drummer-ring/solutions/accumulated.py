from itertools import accumulate


class Solution:
    def coins(self, skills):
        start = skills.index(min(skills))
        ring = skills[start:] + skills[:start]

        def one_way(ring):
            steps = [1 if b > a else 0 if b == a else -1 for a, b in zip(ring, ring[1:])]
            return accumulate(steps, lambda coin, step: 1 if step < 0 else coin + step, initial=1)

        back = list(one_way(ring[:1] + ring[:0:-1]))
        return sum(map(max, one_way(ring), back[:1] + back[:0:-1]))
