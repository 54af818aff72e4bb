class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        count = [0] * (high + 1)
        for number in numbers:
            if number % measure == 0:
                count[number // measure] += 1
        signs = [0, 1] + [0] * (high - 1)
        for step in range(1, high + 1):
            if signs[step]:
                for multiple in range(2 * step, high + 1, step):
                    signs[multiple] -= signs[step]
        total = 0
        for step, sign in enumerate(signs):
            if sign:
                many = sum(count[step::step])
                total += sign * many * (many - 1) // 2
        return total
