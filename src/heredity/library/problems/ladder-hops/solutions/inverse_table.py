class Solution:
    def waysUp(self, rungs):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rungs + 2):
            factorial.append(factorial[-1] * number % modulus)
        inverse = [pow(factorial[-1], modulus - 2, modulus)]
        for number in range(rungs + 1, 0, -1):
            inverse.append(inverse[-1] * number % modulus)
        inverse.reverse()
        total, long = 0, 0
        while 3 * long <= rungs and long <= rungs - 3 * long + 1:
            pots = rungs - 3 * long + 1
            total += factorial[pots] * inverse[long] % modulus * inverse[pots - long]
            long += 1
        return total % modulus
