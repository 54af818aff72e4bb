class Solution:
    def days(self, jobs, rules):
        later = [[] for _ in range(jobs)]
        for a, b in rules:
            later[a].append(b)
        state = [0] * jobs

        def cycle(a):
            state[a] = 1
            if any(state[b] == 1 or (state[b] == 0 and cycle(b)) for b in later[a]):
                return True
            state[a] = 2
            return False

        if any(state[a] == 0 and cycle(a) for a in range(jobs)):
            return -1

        def longest(a):
            return 1 + max((longest(b) for b in later[a]), default=0)

        return max(longest(a) for a in range(jobs))
