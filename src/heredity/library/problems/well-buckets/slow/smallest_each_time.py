class Solution:
    def leaving(self, buckets):
        waiting = list(range(len(buckets)))
        home = []
        while waiting:
            person = min(waiting, key=lambda other: buckets[other])
            waiting.remove(person)
            home.append(person)
        return home
