class Solution:
    def loudest(self, calls):
        heard = {}
        best, most = "", 0
        for call in calls:
            heard[call] = heard.get(call, 0) + 1
            if heard[call] >= most:
                best, most = call, heard[call]
        return best
