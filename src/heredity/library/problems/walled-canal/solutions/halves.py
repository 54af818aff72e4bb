class Solution:
    def water(self, walls, drains):
        def stands(low, high):
            """The fields low to high, between two outlets: around the highest of them in between, the rest is two slopes."""
            total, todo = 0, [(low, high)]
            while todo:
                low, high = todo.pop()
                if high - low < 2:
                    continue
                ends = min(walls[low], walls[high])
                step = range(low + 1, high) if walls[low] <= walls[high] else range(high - 1, low, -1)
                for place in step:
                    if walls[place] > ends:
                        todo.append((place, high) if walls[low] <= walls[high] else (low, place))
                        break
                    total += ends - walls[place]
            return total

        cuts = sorted({0, *drains, len(walls) - 1})
        return sum(stands(low, high) for low, high in zip(cuts, cuts[1:]))
