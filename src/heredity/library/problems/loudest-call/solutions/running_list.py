class Solution:
    def loudest(self, calls):
        heard = {}
        reached = []
        for call in calls:
            heard[call] = heard.get(call, 0) + 1
            reached.append((heard[call], call))
        most = max(times for times, _ in reached)
        return next(call for times, call in reached if times == most)
