class Solution:
    def coins(self, skills):
        up, down = [1] * len(skills), [1] * len(skills)
        for i in range(1, len(skills)):
            if skills[i] >= skills[i - 1]:
                up[i] = up[i - 1] + (skills[i] > skills[i - 1])
        for i in range(len(skills) - 2, -1, -1):
            if skills[i] >= skills[i + 1]:
                down[i] = down[i + 1] + (skills[i] > skills[i + 1])
        return sum(map(max, up, down))
