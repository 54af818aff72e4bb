class Solution:
    def waysUp(self, rungs):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rungs + 2):
            factorial.append(factorial[-1] * number % modulus)
        total = 0
        for long in range(rungs // 3 + 1):
            short = rungs - 3 * long
            if long <= short + 1:
                below = factorial[long] * factorial[short + 1 - long] % modulus
                total += factorial[short + 1] * pow(below, -1, modulus)
        return total % modulus
