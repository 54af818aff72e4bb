import "sort"

func shortestStride(stones []int, more int) int {
	sort.Ints(stones)
	low, high := 1, stones[len(stones)-1]-stones[0]
	for low < high {
		middle, count := (low+high)/2, 0
		for i := 1; i < len(stones); i++ {
			count += (stones[i] - stones[i-1] - 1) / middle
		}
		if count <= more {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
