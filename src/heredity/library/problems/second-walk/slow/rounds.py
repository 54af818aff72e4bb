class Solution:
    def second(self, count, ways):
        never = 1 << 60
        first, second = [never] * count, [never] * count
        first[0], changed = 0, True
        while changed:
            changed = False
            for a, b, cost in ways:
                for x, y in ((a, b), (b, a)):
                    for more in (first[x] + cost, second[x] + cost):
                        if more < first[y]:
                            first[y], second[y], changed = more, first[y], True
                        elif first[y] < more < second[y]:
                            second[y], changed = more, True
        return second[-1] if second[-1] < never else -1
