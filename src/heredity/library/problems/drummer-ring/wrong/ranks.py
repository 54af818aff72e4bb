class Solution:
    def coins(self, skills):
        rank = {skill: place for place, skill in enumerate(sorted(set(skills)), 1)}
        return sum(rank[skill] for skill in skills)
