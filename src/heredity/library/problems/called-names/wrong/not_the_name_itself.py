class Solution:
    def answering(self, names, calls):
        count = {}
        for name in names:
            for end in range(len(name)):
                count[name[:end]] = count.get(name[:end], 0) + 1
        return [count.get(call, 0) for call in calls]
