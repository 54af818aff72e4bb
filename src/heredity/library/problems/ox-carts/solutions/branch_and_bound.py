class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i
        order = sorted(range(count), key=lambda i: -weights[i])
        after = [sum(weights[i] for i in order[place:]) for place in range(count + 1)]
        best = count

        def place(position, rooms, groups):
            nonlocal best
            if len(rooms) + max(0, -(-(after[position] - sum(rooms)) // load)) >= best:
                return
            if position == count:
                best = len(rooms)
                return
            chest, seen = order[position], set()
            for i, room in enumerate(rooms):
                if (
                    room >= weights[chest]
                    and not groups[i] & hated[chest]
                    and (room, groups[i] if feuds else 0) not in seen
                ):
                    seen.add((room, groups[i] if feuds else 0))
                    rooms[i] -= weights[chest]
                    groups[i] |= 1 << chest
                    place(position + 1, rooms, groups)
                    rooms[i] += weights[chest]
                    groups[i] ^= 1 << chest
            if len(rooms) + 1 < best:
                place(position + 1, [*rooms, load - weights[chest]], [*groups, 1 << chest])

        place(0, [], [])
        return best
