class Solution:
    def leastWaiting(self, cloths, rest):
        swapped = True
        while swapped:
            swapped = False
            for i in range(len(cloths) - 1):
                (a, x), (b, y) = cloths[i], cloths[i + 1]
                if (a + rest) * y > (b + rest) * x:
                    cloths[i], cloths[i + 1] = cloths[i + 1], cloths[i]
                    swapped = True
        clock = cost = 0
        for hours, impatience in cloths:
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
