class Solution:
    def quietPlates(self, low, high, base):
        found = 0
        for number in range(low, high + 1):
            text = str(number)
            found += sum(map(int, text)) % base == 0 and all(a != b for a, b in zip(text, text[1:]))
        return found
