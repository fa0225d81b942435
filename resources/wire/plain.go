package wire

// AppendString appends the text as a JSON string, in the bytes of Render.
func AppendString(dst []byte, text string) []byte {
	if Plain(text) {
		return append(append(append(dst, '"'), text...), '"')
	}
	rendered, err := Render(text)
	if err != nil { // a string can always be rendered
		return append(dst, `""`...)
	}
	return append(dst, rendered...)
}

// Plain says whether the text needs no escape in JSON: it is printable ASCII without
// quotation marks and backslashes.
func Plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
