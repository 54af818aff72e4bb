from collections import deque


class Solution:
    def leaving(self, buckets):
        line = deque(enumerate(buckets))
        home = []
        while line:
            person, needed = line.popleft()
            if needed == 1:
                home.append(person)
            else:
                line.append((person, needed - 1))
        return home
