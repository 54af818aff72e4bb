class Solution:
    def lit(self, lamps, wishes):
        # What single wishes lead to is settled first; the rest is looked at by groups.
        then = {wish: set() for lamp in range(1, lamps + 1) for wish in (lamp, -lamp)}
        for a, b in wishes:
            if a != -b:
                then[-a].add(b)
                then[-b].add(a)
        light = {}
        stack = [a for a, b in wishes if a == b]
        while stack:
            wish = stack.pop()
            if abs(wish) not in light:
                light[abs(wish)] = wish > 0
                stack += then[wish]
            elif light[abs(wish)] != (wish > 0):
                return []
        rest = [wish for wish in then if abs(wish) not in light]
        seen, order, group = set(light), [], {}
        seen |= {-lamp for lamp in light}
        for root in rest:
            stack = [root]
            while stack:
                wish = stack.pop()
                if wish is None:
                    order.append(stack.pop())
                elif wish not in seen:
                    seen.add(wish)
                    stack += [wish, None, *(other for other in then[wish] if other not in seen)]
        for root in reversed(order):
            stack = [root]
            while stack:
                wish = stack.pop()
                if wish not in group:
                    group[wish] = root
                    stack += [-other for other in then[-wish] if abs(other) not in light and -other not in group]
        places = {wish: place for place, wish in enumerate(order)}
        for wish in rest:
            if group[wish] == group[-wish]:
                return []
            light[abs(wish)] = places[group[wish]] < places[group[-wish]] if wish > 0 else light.get(-wish)
        return [light[lamp] for lamp in range(1, lamps + 1)]
