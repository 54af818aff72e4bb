import "sort"

func sums(part []int) []int {
	found := []int{0}
	for _, sack := range part {
		for _, total := range found {
			found = append(found, total+sack)
		}
	}
	sort.Ints(found)
	return found
}

func selections(sacks []int, low int, high int) int {
	half := len(sacks) / 2
	left, right := sums(sacks[:half]), sums(sacks[half:])
	first, last, count := len(right), len(right), 0
	for _, total := range left {
		for first > 0 && right[first-1]+total >= low {
			first--
		}
		for last > 0 && right[last-1]+total > high {
			last--
		}
		count += last - first
	}
	return count
}
