class Solution:
    def lit(self, lamps, wishes):
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[lamps - a].append(lamps + b)
            then[lamps - b].append(lamps + a)
        number, light, pending = {}, {}, []
        within = set()

        def visit(here):
            lowest = number[here] = len(number)
            pending.append(here)
            within.add(here)
            for there in then[here]:
                if there not in number:
                    lowest = min(lowest, visit(there))
                elif there in within:
                    lowest = min(lowest, number[there])
            if lowest == number[here]:
                group = set()
                while here not in group:
                    group.add(pending.pop())
                within.difference_update(group)
                for wish in group:
                    if 2 * lamps - wish in group:
                        raise ValueError
                    # What is complete first is what others lead to: it is granted.
                    light.setdefault(abs(wish - lamps), wish > lamps)
            return lowest

        try:
            for wish in range(2 * lamps + 1):
                if wish != lamps and wish not in number:
                    visit(wish)
        except ValueError:
            return []
        return [light[lamp] for lamp in range(1, lamps + 1)]
