class Solution:
    def trios(self, boxes):
        having = [0] * (1 << 15)
        for box in boxes:
            having[box] += 1
        for tool in range(15):
            bit = 1 << tool
            for tools in range(1 << 15):
                if not tools & bit:
                    having[tools] += having[tools | bit]
        return sum(
            (-1) ** bin(tools).count("1") * (count * (count - 1) * (count - 2) // 6)
            for tools, count in enumerate(having)
            if count
        )
