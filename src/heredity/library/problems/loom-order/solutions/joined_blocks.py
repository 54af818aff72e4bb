class Solution:
    def leastWaiting(self, cloths, rest):
        def joined(low, high):
            """Hours, impatience and cost of cloths that stand in order."""
            if high - low == 1:
                hours, impatience = cloths[low]
                return hours + rest, impatience, hours * impatience
            middle = (low + high) // 2
            a, b = joined(low, middle), joined(middle, high)
            return a[0] + b[0], a[1] + b[1], a[2] + b[2] + a[0] * b[1]

        cloths.sort(key=lambda cloth: (cloth[0] + rest) / cloth[1])
        return joined(0, len(cloths))[2]
