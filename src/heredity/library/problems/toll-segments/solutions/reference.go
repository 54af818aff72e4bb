func payable(tolls []int, coin int, least int) int {
	count := len(tolls)
	rests := make([]int, count+1)
	for i, toll := range tolls {
		rests[i+1] = ((rests[i]+toll)%coin + coin) % coin
	}
	seen := map[int]int{}
	answer := 0
	for stop := least; stop <= count; stop++ {
		seen[rests[stop-least]]++
		answer += seen[rests[stop]]
	}
	return answer
}
