func bestLead(coins []int) int {
	n := len(coins)
	lead := make([][][4]int, n+2)
	for i := range lead {
		lead[i] = make([][4]int, n+1)
	}
	for start := n - 1; start >= 0; start-- {
		for end := start + 1; end <= n; end++ {
			for state := 0; state < 4; state++ {
				mine, yours := state>>1, state&1
				after := 2*yours + mine
				best := max(coins[start]-lead[start+1][end][after], coins[end-1]-lead[start][end-1][after])
				if mine == 1 && end-start > 1 {
					best = max(best, coins[start]+coins[start+1]-lead[start+2][end][2*yours])
					best = max(best, coins[end-1]+coins[end-2]-lead[start][end-2][2*yours])
				}
				lead[start][end][state] = best
			}
		}
	}
	return lead[0][n][3]
}
