class Solution:
    def spareGloves(self, tags):
        odd = {}
        for tag in tags:
            key = str(tag)
            odd[key] = not odd.get(key, False)
        return sorted(int(key) for key, value in odd.items() if value)
