class Solution:
    def heard(self, count, calls, sources, hops):
        near = {}
        for a, b in calls:
            near.setdefault(a, set()).add(b)
        seen = wave = set(sources)
        for _ in range(min(hops, count)):
            if not wave:
                break
            wave = set().union(*(near.get(a, ()) for a in wave)) - seen
            if len(wave) > 1:
                seen = seen | wave
            else:
                seen.update(wave)
        return sorted(wave) if hops <= count else []
