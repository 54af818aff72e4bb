class Solution:
    def lit(self, lamps, wishes):
        then = {wish: [] for lamp in range(1, lamps + 1) for wish in (lamp, -lamp)}
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        low, group, pending = {}, {}, []

        def visit(here):
            first = low[here] = len(low)
            pending.append(here)
            for there in then[here]:
                if there not in low:
                    yield there
                if there not in group:
                    low[here] = min(low[here], low[there])
            if low[here] == first:
                while pending and here not in group:
                    group[pending.pop()] = first, len(group)

        names = {}
        for root in then:
            calls = [] if root in low else [visit(root)]
            while calls:
                there = next(calls[-1], None)
                if there is None:
                    calls.pop()
                else:
                    calls.append(visit(there))
        for wish, (name, place) in group.items():
            names.setdefault(name, place)
        light = []
        for lamp in range(1, lamps + 1):
            lit, dark = group[lamp][0], group[-lamp][0]
            if lit == dark:
                return []
            light.append(names[lit] < names[dark])
        return light
