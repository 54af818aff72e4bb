class Solution:
    def answering(self, names, calls):
        count = dict.fromkeys(calls, 0)
        lengths = sorted(set(map(len, calls)))
        for name in names:
            for length in lengths:
                if length > len(name):
                    break
                if (begin := name[:length]) in count:
                    count[begin] += 1
        return [count[call] for call in calls]
