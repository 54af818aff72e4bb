from itertools import combinations


class Solution:
    def fired(self, orders):
        orders = sorted(orders, key=lambda order: order[1])
        for count in range(len(orders), 0, -1):
            totals = []
            for some in combinations(orders, count):
                now, late = 0, False
                for hours, due in some:
                    now += hours
                    late = late or now > due
                if not late:
                    totals.append(now)
            if totals:
                return [count, min(totals)]
        return [0, 0]
