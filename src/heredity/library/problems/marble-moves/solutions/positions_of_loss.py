class Solution:
    def winningHeaps(self, most, handfuls):
        marked = [0] * (most + 1)
        stamp = 0
        for heap in range(most + 1):
            if marked[heap] == 0:
                stamp += 1
                for handful in handfuls:
                    if heap + handful <= most:
                        marked[heap + handful] = stamp
        return most + 1 - marked.count(0)
