class Solution:
    def ledger(self, levels):
        count = len(levels)

        def costs(length):
            return length * (length + 1) * (length + 2) // 6

        def tops(sign):
            # Blocks of days that are no higher than now grow together; each keeps the other end.
            other, total, inside = {}, 0, 0
            order = sorted(range(count), key=lambda day: sign * levels[day])
            for place in order:
                start, stop = place, place
                before = inside
                if place - 1 in other:
                    start = other[place - 1]
                    inside -= costs(place - start)
                if place + 1 in other:
                    stop = other[place + 1]
                    inside -= costs(stop - place)
                inside += costs(stop - start + 1)
                other[start], other[stop] = stop, start
                other.setdefault(place, place)
                total += sign * levels[place] * (inside - before)
            return total

        return tops(1) + tops(-1)
