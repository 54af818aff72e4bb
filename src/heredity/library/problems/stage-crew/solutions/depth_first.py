class Solution:
    def days(self, jobs, rules):
        later, length = [[] for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            later[a].append(b)

        def visit(a):
            length[a] = -1
            most = 0
            for b in later[a]:
                if length[b] < 0 or (length[b] == 0 and not visit(b)):
                    return False
                most = max(most, length[b])
            length[a] = most + 1
            return True

        return max(length) if all(length[a] or visit(a) for a in range(jobs)) else -1
