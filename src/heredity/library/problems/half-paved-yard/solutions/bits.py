import sys


class Solution:
    def slabs(self, yard):
        sys.setrecursionlimit(10_000)
        # Light fields that nobody has tried yet are the bits of a number.
        wide = len(yard[0])
        light_bits, dark_fields = 0, []
        for r, row in enumerate(yard):
            for c, field in enumerate(row):
                if field == ".":
                    if (r + c) % 2:
                        light_bits |= 1 << r * wide + c
                    else:
                        dark_fields.append(r * wide + c)
        around = {}
        for field in dark_fields:
            bit = 1 << field
            near = bit << wide | bit >> wide
            near |= bit << 1 if field % wide + 1 < wide else 0
            near |= bit >> 1 if field % wide else 0
            around[field] = near & light_bits
        partner, free = {}, light_bits
        untried = 0

        def improved(field):
            nonlocal untried, free
            if now := around[field] & free:
                bit = now & -now
                free ^= bit
                partner[bit] = field
                return True
            while now := around[field] & untried:
                bit = now & -now
                untried ^= bit
                if improved(partner[bit]):
                    partner[bit] = field
                    return True
            return False

        found = 0
        for field in dark_fields:
            untried = light_bits & ~free
            found += improved(field)
        return found
