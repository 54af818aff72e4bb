class Solution:
    def longestBoard(self, logs, saw, boards):
        def count(length):
            return sum([(log + saw) // (length + saw) for log in logs])

        length, jump = 0, 1 << 30
        while jump:
            while count(length + jump) >= boards:
                length += jump
            jump //= 2
        return length
