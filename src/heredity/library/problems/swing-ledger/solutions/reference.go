func ledger(levels []int) int {
	total := 0
	for _, sign := range []int{1, -1} {
		stack := []int{-1}
		for i := 0; i <= len(levels); i++ {
			for len(stack) > 1 && (i == len(levels) || sign*levels[stack[len(stack)-1]] <= sign*levels[i]) {
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				left, right := top-stack[len(stack)-1], i-top
				total += sign * levels[top] * (left * right * (left + right) / 2)
			}
			stack = append(stack, i)
		}
	}
	return total
}
