class Solution:
    def lit(self, lamps, wishes):
        # Only the first wish of a guest is looked at as not granted.
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
        seen, order = [False] * len(then), []
        group = [0] * len(then)
        before = [[] for _ in then]
        for here, ways in enumerate(then):
            for there in ways:
                before[there].append(here)

        def forward(here):
            seen[here] = True
            for there in then[here]:
                if not seen[there]:
                    forward(there)
            order.append(here)

        def back(here, number):
            group[here] = number
            for there in before[here]:
                if not group[there]:
                    back(there, number)

        for node in range(1, len(then)):
            if not seen[node]:
                forward(node)
        for number, node in enumerate(reversed(order), 1):
            if not group[node]:
                back(node, number)
        if any(group[lamp] == group[-lamp] for lamp in range(1, lamps + 1)):
            return []
        return [group[lamp] > group[-lamp] for lamp in range(1, lamps + 1)]
