class Solution:
    def bright(self, rows, columns, pulls):
        def states(wanted, size):
            once, twice = set(), set()
            for side, number in pulls:
                if side == wanted:
                    if number in once:
                        once.discard(number)
                        twice.add(number)
                    elif number in twice:
                        twice.discard(number)
                    else:
                        once.add(number)
            return size - len(once) - len(twice), len(once), len(twice)

        dark, dim, lit = states(0, rows)
        dark2, dim2, lit2 = states(1, columns)
        return dark * lit2 + dim * dim2 + lit * dark2
