class Solution:
    def saw(self, weights):
        count = len(weights)
        sums = [0] * (count + 1)
        for place in range(count):
            sums[place + 1] = sums[place] + weights[place]
        gap = [abs(sums[count] - 2 * sums[cut]) for cut in range(count + 1)]
        smallest = min(gap[1:count])
        cut = 1
        while gap[cut] != smallest:
            cut += 1
        return cut
