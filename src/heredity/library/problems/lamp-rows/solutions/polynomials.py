class Solution:
    def bright(self, rows, columns, pulls):
        # Rows and columns as polynomials modulo x^3 - 1; the coefficient of x^2 of the product is asked.
        def polynomial(wanted, size):
            power = {}
            for side, number in pulls:
                if side == wanted:
                    power[number] = (power.get(number, -1) + 1) % 3
            out = [size - len(power), 0, 0]
            for value in power.values():
                out[(value + 1) % 3] += 1
            return out

        one, other = polynomial(0, rows), polynomial(1, columns)
        product = [0] * 5
        for i in range(3):
            for j in range(3):
                product[i + j] += one[i] * other[j]
        return product[2]
