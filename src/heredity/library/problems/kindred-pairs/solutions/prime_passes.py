class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        many = [0] * (high + 1)
        for number in numbers:
            if number % measure == 0:
                many[number // measure] += 1
        sieve = bytearray([1]) * (high + 1)
        primes = []
        for prime in range(2, high + 1):
            if sieve[prime]:
                primes.append(prime)
                sieve[prime::prime] = bytes(len(range(prime, high + 1, prime)))
        for prime in primes:
            for step in range(high // prime, 0, -1):
                many[step] += many[step * prime]
        pairs = [count * (count - 1) // 2 for count in many]
        for prime in primes:
            for step in range(1, high // prime + 1):
                pairs[step] -= pairs[step * prime]
        return pairs[1]
