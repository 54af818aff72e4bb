class Solution:
    def answering(self, names, calls):
        return [sum(call in name for name in names) for call in calls]
