class Solution:
    def answering(self, names, calls):
        prime, count = (1 << 61) - 1, {}
        for name in names:
            value = 1
            count[value] = count.get(value, 0) + 1
            for code in name.encode():
                value = (value * 911382323 + code) % prime
                count[value] = count.get(value, 0) + 1
        found = []
        for call in calls:
            value = 1
            for code in call.encode():
                value = (value * 911382323 + code) % prime
            found.append(count.get(value, 0))
        return found
