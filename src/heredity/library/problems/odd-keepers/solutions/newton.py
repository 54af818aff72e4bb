class Solution:
    def stillLit(self, lamps):
        def root(number):
            guess = number
            while guess * guess > number:
                guess = (guess + number // guess) // 2
            return guess

        return root(lamps) + root(lamps // 2)
