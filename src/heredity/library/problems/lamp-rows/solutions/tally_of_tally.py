from collections import Counter


class Solution:
    def bright(self, rows, columns, pulls):
        made = Counter(map(tuple, pulls))
        kinds = Counter((side, pulled % 3) for (side, _), pulled in made.items())
        for side, size in enumerate((rows, columns)):
            kinds[side, 0] = size - kinds[side, 1] - kinds[side, 2]
        return kinds[0, 0] * kinds[1, 2] + kinds[0, 1] * kinds[1, 1] + kinds[0, 2] * kinds[1, 0]
