from functools import reduce
from operator import xor


class Solution:
    def spareGloves(self, tags):
        both = reduce(xor, tags)
        top = 1 << both.bit_length() - 1
        one = reduce(xor, (tag for tag in tags if tag & top))
        return sorted([one, one ^ both])
