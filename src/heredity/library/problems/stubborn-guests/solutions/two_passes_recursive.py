class Solution:
    def lit(self, lamps, wishes):
        then, before = {}, {}
        for a, b in wishes:
            for here, there in ((-a, b), (-b, a)):
                then.setdefault(here, []).append(there)
                before.setdefault(there, []).append(here)
        seen, order, group = set(), [], {}

        def forward(here):
            seen.add(here)
            for there in then.get(here, ()):
                if there not in seen:
                    forward(there)
            order.append(here)

        def back(here, number):
            group[here] = number
            for there in before.get(here, ()):
                if there not in group:
                    back(there, number)

        for lamp in range(1, lamps + 1):
            for wish in (lamp, -lamp):
                if wish not in seen:
                    forward(wish)
        for number, wish in enumerate(reversed(order)):
            if wish not in group:
                back(wish, number)
        light = [group[lamp] - group[-lamp] for lamp in range(1, lamps + 1)]
        return [side > 0 for side in light] if all(light) else []
