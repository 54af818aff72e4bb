class Solution:
    def bestCargo(self, weights, values, capacity):
        plain = twin = [0] * (capacity + 1)
        for weight, value in zip(weights, values):
            void = [-(10**18)]
            double = [worth + 2 * value for worth in (void * min(2 * weight, capacity + 1) + plain)[: capacity + 1]]
            single = [worth + value for worth in (void * weight + twin)[: capacity + 1]]
            twin = list(map(max, twin, single, double))
            plain = list(map(max, plain, [worth + value for worth in (void * weight + plain)[: capacity + 1]]))
        return max(plain[capacity], twin[capacity])
