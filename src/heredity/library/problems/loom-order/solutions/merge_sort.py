class Solution:
    def leastWaiting(self, cloths, rest):
        def ordered(jobs):
            if len(jobs) < 2:
                return jobs
            middle = len(jobs) // 2
            left, right = ordered(jobs[:middle]), ordered(jobs[middle:])
            merged, i = [], 0
            for hours, impatience in right:
                while i < len(left) and (left[i][0] + rest) * impatience <= (hours + rest) * left[i][1]:
                    merged.append(left[i])
                    i += 1
                merged.append((hours, impatience))
            return merged + left[i:]

        clock = cost = 0
        for hours, impatience in ordered(cloths):
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
