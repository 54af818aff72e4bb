class Solution:
    def water(self, walls, drains):
        # From the highest wall down: the fields between the outermost walls of a height or more are under water to that height.
        total, cuts = 0, sorted({0, *drains, len(walls) - 1})
        for low, high in zip(cuts, cuts[1:]):
            order = sorted(range(low, high + 1), key=lambda place: -walls[place])
            first = last = order[0]
            total -= sum(walls[low : high + 1])
            for place, after in zip(order, [*order[1:], None]):
                first, last = min(first, place), max(last, place)
                drop = walls[place] - (walls[after] if after is not None else 0)
                total += drop * (last - first + 1)
        return total
