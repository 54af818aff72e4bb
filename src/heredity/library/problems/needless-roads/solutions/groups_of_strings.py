class Solution:
    def needless(self, count, roads):
        name, group = {}, {}
        for town in range(count):
            name[str(town)] = f"g{town}"
            group[f"g{town}"] = [str(town)]
        found = []
        for number, road in enumerate(roads):
            one, other = (name[str(town)] for town in road)
            if one == other:
                found.append(number)
                continue
            if len(group[one]) > len(group[other]):
                one, other = other, one
            for town in group.pop(one):
                name[town] = other
                group[other].append(town)
        return found
