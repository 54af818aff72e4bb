class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        signs, primes, marked = [0, 1] + [0] * (high - 1), [], bytearray(high + 1)
        for number in range(2, high + 1):
            if not marked[number]:
                primes.append(number)
                signs[number] = -1
            for prime in primes:
                if prime * number > high:
                    break
                marked[prime * number] = 1
                if number % prime == 0:
                    break
                signs[prime * number] = -signs[number]
        count = [0] * (high + 1)
        for number in numbers:
            if number % measure == 0:
                count[number // measure] += 1
        return sum(sign * (m := sum(count[step::step])) * (m - 1) // 2 for step, sign in enumerate(signs) if sign)
