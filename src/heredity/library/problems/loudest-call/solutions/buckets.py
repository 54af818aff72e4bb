from collections import Counter, defaultdict


class Solution:
    def loudest(self, calls):
        count = Counter(calls)
        buckets = defaultdict(set)
        for call, times in count.items():
            buckets[times].add(call)
        leaders = buckets[max(buckets)]
        for call in reversed(calls):
            if len(leaders) == 1:
                return next(iter(leaders))
            leaders.discard(call)
        return ""
