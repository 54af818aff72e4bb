class Solution:
    def answering(self, names, calls):
        return [sum(name.startswith(call) for name in names) for call in calls]
