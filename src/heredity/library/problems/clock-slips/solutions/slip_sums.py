class Solution:
    def wholeTime(self, slips):
        size = dict(zip("dhms", (86400, 3600, 60, 1)))

        def seconds(slip):
            # From one unit to the next by the smallest place of a unit.
            start, made = 0, 0
            while start < len(slip):
                stop = start
                while slip[stop] not in size:
                    stop += 1
                made += int(slip[start:stop]) * size[slip[stop]]
                start = stop + 1
            return made

        total = sum(map(seconds, slips))
        made = [(total // 86400, "d"), (total % 86400 // 3600, "h"), (total % 3600 // 60, "m"), (total % 60, "s")]
        return "".join(f"{number}{unit}" for number, unit in made if number) or "0s"
