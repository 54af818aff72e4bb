class Solution:
    def loudest(self, calls):
        heard = {}
        best, most = "", 0
        for call in calls:
            times = heard[call] = heard.get(call, 0) + 1
            if times > most:
                best, most = call, times
        return best
