class Solution:
    def pairs(self, jars, low, high):
        jars.sort(reverse=True)
        last = len(jars) - 1

        def at_least(limit):
            total, partner = 0, last
            for place in range(len(jars)):
                while partner > place and jars[place] + jars[partner] < limit:
                    partner -= 1
                if partner <= place:
                    return total
                total += partner - place
            return total

        return at_least(low) - at_least(high + 1)
