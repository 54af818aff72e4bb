import "sort"

func pairs(jars []int, low int, high int) int {
	sort.Ints(jars)
	upTo := func(limit int) int {
		total, left, right := 0, 0, len(jars)-1
		for left < right {
			if jars[left]+jars[right] > limit {
				right--
			} else {
				total += right - left
				left++
			}
		}
		return total
	}
	return upTo(high) - upTo(low-1)
}
