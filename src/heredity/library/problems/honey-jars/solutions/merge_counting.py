class Solution:
    def pairs(self, jars, low, high):
        def sort(part):
            # Pairs are counted where the two halves meet.
            if len(part) < 2:
                return part, 0
            half = len(part) // 2
            left, one = sort(part[:half])
            right, other = sort(part[half:])
            total, above, below = one + other, len(right), len(right)
            for jar in left:
                while above and right[above - 1] + jar > high:
                    above -= 1
                while below and right[below - 1] + jar >= low:
                    below -= 1
                total += above - below
            return sorted(left + right), total

        return sort(jars)[1]
