class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        factors = [[] for _ in range(high + 1)]
        for prime in range(2, high + 1):
            if not factors[prime]:
                for multiple in range(prime, high + 1, prime):
                    factors[multiple].append(prime)
        seen, total = [0] * (high + 1), 0
        cached = {}
        for number in numbers:
            if number % measure:
                continue
            number //= measure
            if number not in cached:
                products = [(1, 1)]
                for prime in factors[number]:
                    products += [(product * prime, -sign) for product, sign in products]
                cached[number] = products
            for product, sign in cached[number]:
                total += sign * seen[product]
                seen[product] += 1
        return total
