class Solution:
    def lonely(self, gloves):
        waiting = []
        for glove in gloves:
            if -glove in waiting:
                waiting.remove(-glove)
            else:
                waiting.append(glove)
        return len(waiting)
