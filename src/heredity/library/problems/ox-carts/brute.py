class Solution:
    def fewestCarts(self, weights, load, feuds):
        best = len(weights)

        def place(chest, loads, groups):
            nonlocal best
            if chest == len(weights):
                best = min(best, len(loads))
                return
            for i in range(len(loads) + 1):
                members = groups[i] if i < len(loads) else []
                used = loads[i] if i < len(loads) else 0
                if used + weights[chest] > load or any([chest, o] in feuds or [o, chest] in feuds for o in members):
                    continue
                new_loads = [*loads[:i], used + weights[chest], *loads[i + 1 :]]
                place(chest + 1, new_loads, [*groups[:i], [*members, chest], *groups[i + 1 :]])

        place(0, [], [])
        return best
