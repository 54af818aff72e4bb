class Solution:
    def blends(self, signals):
        total = 0
        for start in range(len(signals)):
            blend = 0
            for place in range(start, len(signals)):
                blend |= signals[place]
                total += blend
        return total
