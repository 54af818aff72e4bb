class Solution:
    def days(self, jobs, rules):
        later, length, state = [[] for _ in range(jobs)], [1] * jobs, bytearray(jobs)
        for a, b in rules:
            later[a].append(b)
        for start in range(jobs):
            stack = [start]
            while stack:
                a = stack[-1]
                if state[a] == 0:
                    state[a] = 1
                    for b in later[a]:
                        if state[b] == 1:
                            return -1
                        if state[b] == 0:
                            stack.append(b)
                else:
                    stack.pop()
                    if state[a] == 1:
                        state[a] = 2
                        for b in later[a]:
                            length[a] = max(length[a], length[b] + 1)
        return max(length)
