class Solution:
    def kindredPairs(self, numbers, measure):
        kept = [number // measure for number in numbers if number % measure == 0]
        total = len(kept) * (len(kept) - 1) // 2
        for prime in range(2, max(kept, default=0) + 1):
            if prime < 400 and all(prime % small for small in range(2, int(prime**0.5) + 1)):
                many = sum(number % prime == 0 for number in kept)
                total -= many * (many - 1) // 2
        return max(0, total)
