class Solution:
    def stillLit(self, lamps):
        def root(number):
            guess = int(number**0.5)
            while guess * guess > number:
                guess -= 1
            while (guess + 1) * (guess + 1) <= number:
                guess += 1
            return guess

        return root(lamps) + root(lamps // 2)
