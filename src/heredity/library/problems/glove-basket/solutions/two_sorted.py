class Solution:
    def lonely(self, gloves):
        left = sorted(glove for glove in gloves if glove > 0)
        right = sorted(-glove for glove in gloves if glove < 0)
        i = j = pairs = 0
        while i < len(left) and j < len(right):
            if left[i] == right[j]:
                pairs += 1
                i += 1
                j += 1
            elif left[i] < right[j]:
                i += 1
            else:
                j += 1
        return len(gloves) - 2 * pairs
