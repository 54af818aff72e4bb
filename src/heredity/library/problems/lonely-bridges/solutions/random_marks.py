from random import Random


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
        # Roads besides the tree get random marks; a road of the tree has the marks of all that pass it by.
        random, marks = Random(5), [0] * count
        for number, (a, b) in enumerate(roads):
            if number not in used:
                mark = random.getrandbits(80)
                marks[a] ^= mark
                marks[b] ^= mark
        size = [1] * count
        for one in reversed(order[1:]):
            marks[up[one]] ^= marks[one]
            size[up[one]] += size[one]
        return sorted(came[one] for one in order[1:] if marks[one] == 0 and least <= size[one] <= count - least)
