class Solution:
    def read(self, ring):
        def least(text):
            twice = text + text
            fail, begin = [-1] * len(twice), 0
            for j in range(1, len(twice)):
                letter = twice[j]
                i = fail[j - begin - 1]
                while i != -1 and letter != twice[begin + i + 1]:
                    if letter < twice[begin + i + 1]:
                        begin = j - i - 1
                    i = fail[i]
                if letter != twice[begin + i + 1]:
                    if letter < twice[begin]:
                        begin = j
                    fail[j - begin] = -1
                else:
                    fail[j - begin] = i + 1
            return twice[begin : begin + len(text)]

        return min(least(ring), least(ring[::-1]))
