package wire

// Plain says whether the text stands in JSON as it is: printable ASCII without quotation
// marks and backslashes.
func Plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
