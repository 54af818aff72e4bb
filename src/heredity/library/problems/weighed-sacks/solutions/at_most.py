class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            if not part:
                return [0]
            rest = sums(part[1:])
            return rest + [total + part[0] for total in rest]

        left, right = sorted(sums(sacks[::2])), sorted(sums(sacks[1::2]), reverse=True)

        def at_most(limit):
            count, place = 0, 0
            for total in left:
                while place < len(right) and total + right[place] > limit:
                    place += 1
                count += len(right) - place
            return count

        return at_most(high) - at_most(low - 1)
