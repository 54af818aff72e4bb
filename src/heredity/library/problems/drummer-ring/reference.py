class Solution:
    def coins(self, skills):
        start = skills.index(min(skills))
        ring = skills[start:] + skills[:start]
        up = [1]
        for before, skill in zip(ring, ring[1:]):
            up.append(up[-1] + 1 if skill > before else up[-1] if skill == before else 1)
        total, down, after = 0, 1, ring[0]
        for skill, least in zip(reversed(ring), reversed(up)):
            down = down + 1 if skill > after else down if skill == after else 1
            after = skill
            total += max(down, least)
        return total
