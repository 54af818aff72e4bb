class Solution:
    def answering(self, names, calls):
        names = sorted(names)

        def first(call, after):
            low, high = 0, len(names)
            while low < high:
                middle = (low + high) // 2
                begin = names[middle][: len(call)]
                if begin < call or (after and begin == call):
                    low = middle + 1
                else:
                    high = middle
            return low

        return [first(call, True) - first(call, False) for call in calls]
