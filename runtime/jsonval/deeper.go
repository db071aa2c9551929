package jsonval

// Deeper reports whether a JSON text nests more than limit containers within one another. It is for those who must hand the
// text to a parser that calls itself for each level; it does not check the text.
func Deeper[T ~string | ~[]byte](text T, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
