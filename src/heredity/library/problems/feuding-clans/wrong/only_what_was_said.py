class Solution:
    def lie(self, count, sayings):
        said = {}
        for number, (a, b, apart) in enumerate(sayings):
            if said.setdefault((min(a, b), max(a, b)), apart) != apart or (a == b and apart):
                return number
        return -1
