class Solution:
    def collected(self, years):
        def power(base, exponent, modulus):
            result = 1
            while exponent:
                if exponent & 1:
                    result = result * base % modulus
                base = base * base % modulus
                exponent >>= 1
            return result

        return [n % m if a == 1 else (power(a, n, m * (a - 1)) - 1) // (a - 1) % m for a, n, m in years]
