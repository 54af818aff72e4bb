class Solution:
    def answering(self, names, calls):
        from bisect import bisect_left

        names = sorted(names)
        return [bisect_left(names, call + "z") - bisect_left(names, call) for call in calls]
