package arguments_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/arguments"
)

// readings returns the readings of arguments as JSON, one a line, or their problems.
func readings(sent string) string {
	all, problems := arguments.Decode([]byte(sent))
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	for _, one := range all {
		text, _ := json.Marshal(one)
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

// TestNumbersHaveTheReadingsOfServers guarantees one reading of numbers that all servers read alike. Other numbers have
// a reading each for servers with exact numbers, for those with doubles, and for Python.
func TestNumbersHaveTheReadingsOfServers(t *testing.T) {
	const tooLarge = "arguments: must have numbers within the range of doubles, up to about 1.8e308"
	for sent, want := range map[string]string{
		`{"a":[7,-12,0.1,100.5,1e+22,"7.0000000000000000001"]}`: `{"a":[7,-12,0.1,100.5,1e+22,"7.0000000000000000001"]}`,
		`{"a":[5.0,5e0,50e-1,0.05E+2,-0.0,-0,1.50]}`:            `{"a":[5,5,5,5,0,0,1.5]}`,
		`{"a":9007199254740992,"b":1.8e18}`:                     `{"a":9007199254740992,"b":1800000000000000000}`,
		`{"a":7.0000000000000000001}`:                           "{\"a\":7.0000000000000000001}\n{\"a\":7}",
		`{"a":[{"b":6.9999999999999999999}]}`:                   "{\"a\":[{\"b\":6.9999999999999999999}]}\n{\"a\":[{\"b\":7}]}",
		`{"a":9007199254740993,"b":9007199254740993}`:           "{\"a\":9007199254740993,\"b\":9007199254740993}\n{\"a\":9007199254740992,\"b\":9007199254740992}",
		`{"a":1152921504606846977}`:                             "{\"a\":1152921504606846977}\n{\"a\":1152921504606847000}\n{\"a\":1152921504606846976}",
		`{"a":1152921504606847000}`:                             "{\"a\":1152921504606847000}\n{\"a\":1152921504606846976}",
		`{"a":7.0000000000000000001,"id":9007199254740993}`: "{\"a\":7.0000000000000000001,\"id\":9007199254740993}\n" +
			"{\"a\":7,\"id\":9007199254740992}\n{\"a\":7,\"id\":9007199254740993}",
		`{"a":1e-400}`:   "{\"a\":1e-400}\n{\"a\":0}",
		`{"a":1.8e308}`:  tooLarge,
		`{"a":[-1e309]}`: tooLarge,
	} {
		if got := readings(sent); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", sent, got, want)
		}
	}
}

// spelt writes digits times a power of ten in a random way.
func spelt(r *rand.Rand, digits *big.Int, power int) string {
	text, negative := strings.CutPrefix(digits.String(), "-")
	text += strings.Repeat("0", r.IntN(3)*r.IntN(4))
	power -= len(text) - len(strings.TrimPrefix(digits.String(), "-"))
	point := r.IntN(len(text)) + 1
	whole, fraction, exponent := text[:point], text[point:], power+len(text)-point
	if exponent > 0 && exponent < 30 && fraction == "" && r.IntN(2) == 0 {
		whole, exponent = whole+strings.Repeat("0", exponent), 0
	}
	if exponent < 0 && exponent > -30 && r.IntN(2) == 0 {
		text = strings.Repeat("0", max(0, -power+1-len(text))) + text
		whole, fraction, exponent = text[:len(text)+power], text[len(text)+power:], 0
	}
	out := whole
	if len(whole) > 1 {
		out = strings.TrimLeft(whole[:len(whole)-1], "0") + whole[len(whole)-1:]
	}
	if negative {
		out = "-" + out
	}
	if fraction != "" {
		out += "." + fraction
	}
	if exponent != 0 || r.IntN(6) == 0 {
		out += []string{"e", "E"}[r.IntN(2)] + strings.TrimPrefix(fmt.Sprintf("%+d", exponent), []string{"+", ""}[r.IntN(2)])
	}
	return out
}

// TestReadingsOfRandomNumbers guarantees three readings of a number in any spelling: the exact value first, the shortest
// decimal of its double, and the double's own value. Equal ones are one reading.
func TestReadingsOfRandomNumbers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rat := func(text string) *big.Rat {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q", text)
		}
		return v
	}
	several := 0
	for range 20_000 {
		digits := new(big.Int).Rsh(new(big.Int).SetUint64(r.Uint64()), uint(r.IntN(64)))
		if r.IntN(4) == 0 {
			digits.Add(digits.Lsh(digits, uint(r.IntN(60))), big.NewInt(r.Int64N(3)-1))
		}
		if r.IntN(3) == 0 {
			digits.Neg(digits)
		}
		sent := spelt(r, digits, r.IntN(41)-20)
		all, problems := arguments.Decode([]byte(`{"n":` + sent + `}`))
		if problems != nil {
			t.Fatalf("%s: %v", sent, problems)
		}
		double, _ := strconv.ParseFloat(sent, 64)
		want := map[string]bool{rat(sent).String(): true, rat(strconv.FormatFloat(double, 'g', -1, 64)).String(): true}
		if double >= 1<<53 || double <= -1<<53 {
			want[new(big.Rat).SetFloat64(double).String()] = true
		}
		for i, one := range all {
			value := rat(string(one["n"].(json.Number)))
			if i == 0 && value.Cmp(rat(sent)) != 0 || !want[value.String()] {
				t.Fatalf("%s: reading %d is %v", sent, i, one)
			}
			delete(want, value.String())
		}
		if len(want) > 0 {
			t.Fatalf("%s: %v lack %v", sent, all, want)
		}
		if len(all) > 1 {
			several++
		}
	}
	if several < 2_000 || several > 18_000 {
		t.Errorf("%d numbers have several readings", several)
	}
}

// TestMembersThatDifferInCaseAreTwins guarantees a problem with both names for each two in one object, at any depth.
func TestMembersThatDifferInCaseAreTwins(t *testing.T) {
	for sent, want := range map[string]string{
		`{"number":1,"numbers":2,"a":{"number":3},"b":[{"Number":4},{"number":5}]}`: "",
		`{"number":1,"Number":7}`:              `arguments: must not have both "Number" and "number", which differ in case alone`,
		`{"a":[{"b":{"\u017fet":1,"SET":2}}]}`: "arguments.a.0.b: must not have both \"SET\" and \"\u017fet\", which differ in case alone",
	} {
		all, problems := arguments.Decode([]byte(sent))
		if problems != nil {
			t.Fatal(problems)
		}
		var lines []string
		for _, problem := range arguments.Twins(all[0]) {
			lines = append(lines, problem.String())
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", sent, got, want)
		}
	}
}
