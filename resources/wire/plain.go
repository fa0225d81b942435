package wire

// AppendString appends the text as a JSON string, with the bytes that Render gives.
func AppendString(to []byte, text string) []byte {
	if Plain(text) {
		return append(append(append(to, '"'), text...), '"')
	}
	rendered, err := Render(text)
	if err != nil { // a string can always be rendered
		return append(to, `""`...)
	}
	return append(to, rendered...)
}

// Plain says whether the text stands in JSON as it is: printable ASCII without quotation
// marks and backslashes. It is asked of all that is logged of each request, so it looks at
// eight bytes at once.
func Plain(text string) bool {
	for len(text) >= 8 {
		if !plainEight(uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56) {
			return false
		}
		text = text[8:]
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

const (
	each = 0x0101010101010101 // of eight bytes
	tops = 0x80 * each
)

// plainEight does arithmetic on eight bytes at once, in which a byte that is not plain sets
// a top bit; what it lends from or carries into its neighbours changes nothing then.
func plainEight(x uint64) bool {
	control := (x - ' '*each) &^ x
	high := x + each | x // DEL becomes 0x80
	quote := x ^ '"'*each
	slash := x ^ '\\'*each
	return (control|high|(quote-each)&^quote|(slash-each)&^slash)&tops == 0
}
