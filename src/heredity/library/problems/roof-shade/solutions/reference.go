func higher(roofs []int) []int {
	count := len(roofs)
	answer := make([]int, count)
	stack := []int{}
	for i, roof := range roofs {
		for len(stack) > 0 && roofs[stack[len(stack)-1]] <= roof {
			stack = stack[:len(stack)-1]
		}
		answer[i] = -1
		if len(stack) > 0 {
			answer[i] = stack[len(stack)-1]
		}
		stack = append(stack, i)
	}
	stack = stack[:0]
	for i := count - 1; i >= 0; i-- {
		for len(stack) > 0 && roofs[stack[len(stack)-1]] <= roofs[i] {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			right := stack[len(stack)-1]
			if answer[i] < 0 || right-i < i-answer[i] {
				answer[i] = right
			}
		}
		stack = append(stack, i)
	}
	return answer
}
