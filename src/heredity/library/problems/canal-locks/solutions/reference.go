import "sort"

func routes(rows int, columns int, closed [][]int) int {
	const m = 1000000007
	size := rows + columns + 1
	factorial, inverse := make([]int, size), make([]int, size)
	factorial[0], factorial[1], inverse[0], inverse[1] = 1, 1, 1, 1
	for i := 2; i < size; i++ {
		factorial[i] = factorial[i-1] * i % m
		inverse[i] = (m - m/i) * inverse[m%i] % m
	}
	for i := 2; i < size; i++ {
		inverse[i] = inverse[i] * inverse[i-1] % m
	}
	paths := func(down, right int) int {
		if down < 0 || right < 0 {
			return 0
		}
		return factorial[down+right] * inverse[down] % m * inverse[right] % m
	}
	sort.Slice(closed, func(i, j int) bool {
		a, b := closed[i], closed[j]
		return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
	})
	closed = append(closed, []int{rows - 1, columns - 1})
	ways := make([]int, len(closed))
	for i, stop := range closed {
		ways[i] = paths(stop[0], stop[1])
		for j := 0; j < i; j++ {
			ways[i] = (ways[i] + (m-ways[j])*paths(stop[0]-closed[j][0], stop[1]-closed[j][1])) % m
		}
	}
	return ways[len(ways)-1]
}
