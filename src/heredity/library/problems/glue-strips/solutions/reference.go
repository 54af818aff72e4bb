func leastGlue(widths []int) int {
	n := len(widths)
	sums := make([]int, n+1)
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, n+1)
	}
	for i, width := range widths {
		sums[i+1] = sums[i] + width
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 2; j <= n; j++ {
			best[i][j] = 1 << 60
			for k := i + 1; k < j; k++ {
				best[i][j] = min(best[i][j], best[i][k]+best[k][j]+max(sums[k]-sums[i], sums[j]-sums[k]))
			}
		}
	}
	return best[0][n]
}
