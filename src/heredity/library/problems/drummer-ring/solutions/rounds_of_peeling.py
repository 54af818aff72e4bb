class Solution:
    def coins(self, skills):
        count = len(skills)
        first = skills.index(min(skills))
        ring = skills[first:] + skills[:first]
        heights, lengths = [], []
        for skill in ring:
            if heights and heights[-1] == skill:
                lengths[-1] += 1
            else:
                heights.append(skill)
                lengths.append(1)
        if len(heights) > 1 and heights[0] == heights[-1]:
            heights.pop()
            lengths[0] += lengths.pop()
        runs = len(heights)
        if runs == 1:
            return count
        waits = [(heights[i] > heights[i - 1]) + (heights[i] > heights[(i + 1) % runs]) for i in range(runs)]
        level = [i for i in range(runs) if not waits[i]]
        total = coin = 0
        while level:
            coin += 1
            following = []
            for i in level:
                total += coin * lengths[i]
                for j in (i - 1, (i + 1) % runs):
                    if heights[j] > heights[i]:
                        j %= runs
                        waits[j] -= 1
                        if not waits[j]:
                            following.append(j)
            level = following
        return total
