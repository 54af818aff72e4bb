class Solution:
    def firstClash(self, plain, coded):
        kinds = len(set(zip(plain, coded)))
        return -1 if kinds == len(set(plain)) == len(set(coded)) else len(plain) - 1
