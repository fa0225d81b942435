package arguments

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The ways to read a number: its exact value, the shortest decimal of its nearest double, and the value of that double.
// The two differ from 2^53 on: a shortest decimal ends with zeros there.
const (
	exact = iota
	shortest
	double
)

// ways are those in which servers read all numbers of arguments: integers, and then those with a point or an exponent.
// Python reads the former exactly and the latter as doubles.
var ways = [][2]int{{exact, exact}, {shortest, shortest}, {double, double}, {exact, shortest}, {exact, double}}

// numbers are the numbers of arguments with several texts, by the text in the arguments. There is one for each way.
type numbers map[json.Number][double + 1]json.Number

// add adds a number if it has another text in a way. ok is false beyond the range of doubles.
func (n *numbers) add(text json.Number) (ok bool) {
	if isShort(string(text)) {
		return true
	}
	if _, has := (*n)[text]; has {
		return true
	}
	nearest, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return false
	}
	read := [double + 1]json.Number{exact: text, shortest: shortestOf(nearest)}
	if read[double] = read[shortest]; math.Abs(nearest) >= 1<<53 {
		read[double] = json.Number(strconv.FormatFloat(nearest, 'f', 0, 64))
	} else if text == read[shortest] {
		return true
	}
	if sizeOf(read[double]) == sizeOf(read[shortest]) {
		read[double] = read[shortest]
	}
	for _, way := range []int{double, shortest} {
		if sizeOf(text) == sizeOf(read[way]) {
			read[exact] = read[way]
		}
	}
	if read[exact] == text && read[shortest] == text && read[double] == text {
		return true
	}
	if *n == nil {
		*n = numbers{}
	}
	(*n)[text] = read
	return true
}

// isShort reports whether a number is an integer of at most 15 digits, which all readers read and write alike. Some write
// -0 as 0.
func isShort(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return text != "-0" && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}

// shortestOf returns the shortest decimal of a double. It has an exponent if JavaScript writes one.
func shortestOf(d float64) json.Number {
	switch abs := math.Abs(d); {
	case d == 0:
		return "0"
	case abs < 1e-6 || abs >= 1e21:
		return json.Number(strconv.FormatFloat(d, 'e', -1, 64))
	}
	return json.Number(strconv.FormatFloat(d, 'f', -1, 64))
}

// size is 0.digits times a power of ten. Neither the first digit nor the last one is 0.
type size struct {
	digits string
	power  int
}

// sizeOf returns the value of a number without its sign, which is the same in all readings.
func sizeOf(text json.Number) size {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(text)), "e")
	power, _ := strconv.Atoi(exponent) // 0 without one; TooLong bounds it
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	value := size{strings.TrimRight(digits, "0"), power + len(digits) - len(fraction)}
	if value.digits == "" {
		return size{}
	}
	return value
}

// readings returns arguments as they are read in each way, without those that are read alike.
func (n numbers) readings(members map[string]any) (all []map[string]any) {
	if len(n) == 0 {
		return []map[string]any{members}
	}
	texts, seen := slices.Collect(maps.Keys(n)), map[string]bool{}
	for _, way := range ways {
		var read strings.Builder
		for _, text := range texts {
			read.WriteString(string(n.read(text, way)) + " ")
		}
		if !seen[read.String()] {
			seen[read.String()] = true
			all = append(all, n.replaced(members, way).(map[string]any))
		}
	}
	return all
}

// read returns the text of a number in one of the ways.
func (n numbers) read(text json.Number, way [2]int) json.Number {
	read, has := n[text]
	switch {
	case !has:
		return text
	case strings.ContainsAny(string(text), ".eE"):
		return read[way[1]]
	}
	return read[way[0]]
}

// replaced copies a value with its numbers as they are read in one of the ways.
func (n numbers) replaced(v any, way [2]int) any {
	switch v := v.(type) {
	case json.Number:
		return n.read(v, way)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = n.replaced(member, way)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = n.replaced(element, way)
		}
		return out
	}
	return v
}
