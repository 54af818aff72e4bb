class Solution:
    def lonely(self, gloves):
        number = {}
        for glove in gloves:
            number.setdefault(abs(glove), len(number))
        more = [0] * len(number)
        for glove in gloves:
            more[number[abs(glove)]] += 1 if glove > 0 else -1
        return sum(abs(value) for value in more)
