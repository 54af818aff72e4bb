class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007

        def row(count, chosen):
            if chosen < 0:
                return 0
            before, last = [1] + [0] * chosen, [1] + [0] * chosen
            for _ in range(count):
                now = [1] + [(last[k] + before[k - 1]) % modulus for k in range(1, chosen + 1)]
                before, last = last, now
            return last[chosen]

        return (row(pots - 1, seeds) + row(pots - 3, seeds - 1)) % modulus
