func firstFault(walk string) int {
	opener := map[byte]byte{')': '(', ']': '[', '}': '{', '*': '*'}
	stack := []byte{}
	for i := 0; i < len(walk); i++ {
		letter := walk[i]
		open, shuts := opener[letter]
		top := len(stack) - 1
		if shuts && top >= 0 && stack[top] == open {
			stack = stack[:top]
		} else if !shuts || letter == '*' {
			stack = append(stack, letter)
		} else {
			return i
		}
	}
	if len(stack) > 0 {
		return len(walk)
	}
	return -1
}
