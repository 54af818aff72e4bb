class Solution:
    def loudest(self, calls):
        most = max(calls.count(call) for call in calls)
        for place in range(1, len(calls) + 1):
            if calls[:place].count(calls[place - 1]) == most:
                return calls[place - 1]
        return ""
