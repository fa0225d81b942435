package limits

import (
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// cost estimates the most that a built-in allocates for these operands, in bytes. Above the budget it need not be
// exact.
type cost func(operands []*ast.Term, budget int) int

// Costs of parts of values, in bytes.
const (
	tooMuch = math.MaxInt32 // more than any budget
	element = 64            // a member of an array, a set or an object
	part    = 64            // for each byte of a parsed text: each may become a value
	counted = 128           // a number of a range
	address = 256           // an element of a set of addresses
	// maxDigits bounds the digits of a number in arithmetic: OPA parses 1e30000, and nothing stops a longer
	// computation.
	maxDigits = 10_000
	// maxPattern bounds a compiled regular expression, in bytes: OPA caches a hundred.
	maxPattern = 1 << 20
	// longestWidth is the largest width of a verb in a format of Go.
	longestWidth = 1_000_000
)

// costs returns all built-ins that policies may call, each with its cost. nil is the cost of a small result.
func costs() map[string]cost {
	out := map[string]cost{}
	add := func(c cost, names string) {
		for name := range strings.FieldsSeq(names) {
			out[name] = c
		}
	}
	add(nil, `all any assign cast_boolean cast_null cast_object cast_string contains count crypto.hmac.equal endswith eq equal
		gt gte indexof internal.member_2 internal.member_3 internal.print internal.test_case is_array is_boolean is_null
		is_number is_object is_set is_string lt lte max min neq net.cidr_contains net.cidr_intersects net.cidr_is_valid
		net.cidr_overlap object.get object.subset print rego.metadata.chain rego.metadata.rule semver.compare semver.is_valid
		startswith strings.count time.now_ns trim trim_left trim_prefix trim_right trim_space trim_suffix type_name uri.is_valid
		uuid.parse uuid.rfc4122`)
	add(ofMembers, `and array.concat array.reverse array.slice cast_array cast_set object.filter object.keys object.remove or
		set_diff sort strings.any_prefix_match strings.any_suffix_match`)
	add(ofContent, `abs array.flatten base64.decode base64.encode base64.is_valid base64url.decode base64url.encode
		base64url.encode_no_pad bits.and bits.negate bits.or bits.rsh bits.xor ceil crypto.hmac.md5 crypto.hmac.sha1 crypto.hmac.sha256
		crypto.hmac.sha512 crypto.md5 crypto.sha1 crypto.sha256 div floor format_int glob.quote_meta graph.reachable hex.decode
		hex.encode internal.template_string intersection json.filter json.marshal json.remove lower minus mul object.union
		object.union_n plus product rand.intn regex.globs_match rem round strings.reverse substring sum time.add_date time.clock
		time.date time.diff time.format time.parse_duration_ns time.parse_ns time.parse_rfc3339_ns time.weekday to_number union upper
		urlquery.decode urlquery.encode urlquery.encode_object walk`)
	add(ofParts, `crypto.parse_private_keys crypto.x509.parse_and_verify_certificates
		crypto.x509.parse_and_verify_certificates_with_options crypto.x509.parse_certificate_request crypto.x509.parse_certificates
		crypto.x509.parse_keypair crypto.x509.parse_rsa_private_key io.jwt.decode io.jwt.decode_verify io.jwt.verify_eddsa
		io.jwt.verify_es256 io.jwt.verify_es384 io.jwt.verify_es512 io.jwt.verify_hs256 io.jwt.verify_hs384 io.jwt.verify_hs512
		io.jwt.verify_ps256 io.jwt.verify_ps384 io.jwt.verify_ps512 io.jwt.verify_rs256 io.jwt.verify_rs384 io.jwt.verify_rs512
		json.is_valid json.unmarshal net.cidr_merge units.parse units.parse_bytes uri.parse urlquery.decode_object`)
	add(ofPattern, `re_match regex.is_valid regex.match regex.template_match`)
	add(ofGlob, `glob.match`)
	add(ofMatches, `regex.find_all_string_submatch_n regex.find_n regex.split`)
	add(ofSplit, `split strings.split_n`)
	add(ofRange, `numbers.range numbers.range_step`)
	out["concat"], out["sprintf"] = ofConcat, ofSprintf
	out["replace"], out["strings.replace_n"], out["regex.replace"] = ofReplace, ofReplaceN, ofRegexReplace
	out["json.marshal_with_options"], out["json.patch"] = ofIndented, ofPatch
	out["net.cidr_expand"], out["net.cidr_contains_matches"] = ofAddresses, ofPairs
	return out
}

// weight estimates the bytes of a value with all its members and with the paths to these, which walk makes. It stops
// above the budget: a value may contain the same part very often.
func weight(v ast.Value, depth, budget int) (sum int) {
	switch v := v.(type) {
	case ast.String:
		return len(v)
	case ast.Number:
		return digits(string(v))
	case *ast.Array:
		for i := 0; i < v.Len() && sum <= budget; i++ {
			sum += member(v.Elem(i), depth, budget-sum)
		}
	case ast.Set:
		for _, t := range v.Slice() {
			if sum > budget {
				break
			}
			sum += member(t, depth, budget-sum)
		}
	case ast.Object:
		total := 0
		v.Until(func(k, value *ast.Term) bool {
			total += member(k, depth, budget-total) + member(value, depth, budget-total)
			return total > budget
		})
		return total
	}
	return sum
}

// Larger reports whether a value takes more than that many bytes, with each shared part counted each time.
func Larger(v ast.Value, bytes int) bool { return weight(v, 1, bytes) > bytes }

func member(t *ast.Term, depth, budget int) int {
	return element + 16*depth + weight(t.Value, depth+1, budget)
}

// ofContent is the cost of a result with the whole content of its operands.
func ofContent(operands []*ast.Term, budget int) (sum int) {
	for _, t := range operands {
		if sum <= budget {
			sum += weight(t.Value, 1, budget-sum)
		}
	}
	return sum
}

func ofParts(operands []*ast.Term, budget int) int { return part * ofContent(operands, budget) }

// ofMembers is the cost of a result that shares the members of its operands.
func ofMembers(operands []*ast.Term, _ int) (sum int) {
	for _, t := range operands {
		sum += element * size(t.Value)
	}
	return sum
}

func size(v ast.Value) int {
	if collection, ok := v.(interface{ Len() int }); ok {
		return collection.Len()
	}
	return 0
}

func textAt(operands []*ast.Term, i int) string {
	if i >= len(operands) {
		return ""
	}
	s, _ := operands[i].Value.(ast.String) // the built-in rejects other types
	return string(s)
}

// digits returns the number of digits of a number, and tooMuch above maxDigits.
func digits(number string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	zeros := 0
	if exponent = strings.TrimLeft(exponent, "+-"); exponent != "" {
		var err error
		if zeros, err = strconv.Atoi(exponent); err != nil {
			return tooMuch
		}
	}
	if len(mantissa) > maxDigits || zeros > maxDigits-len(mantissa) {
		return tooMuch
	}
	return len(mantissa) + zeros
}

// ofRange is the cost of the numbers of a range.
func ofRange(operands []*ast.Term, _ int) int {
	number := func(i int) float64 {
		n, _ := operands[i].Value.(ast.Number)
		f, ok := n.Float64()
		if n != "" && !ok {
			return math.Inf(1)
		}
		return f
	}
	step := 1.0
	if len(operands) > 3 { // the last one is the result
		step = max(1, number(2))
	}
	n := math.Abs(number(1)-number(0))/step + 1
	if math.IsNaN(n) || n >= tooMuch/counted {
		return tooMuch
	}
	return counted*int(n) + ofContent(operands[:2], tooMuch)
}

func ofConcat(operands []*ast.Term, budget int) int {
	return ofContent(operands[1:2], budget) + len(textAt(operands, 0))*size(operands[1].Value)
}

// ofSprintf counts all operands for each verb: a verb may name any of them.
func ofSprintf(operands []*ast.Term, budget int) int {
	format, widest := textAt(operands, 0), 0
	if values, ok := operands[1].Value.(*ast.Array); ok {
		for i := range values.Len() {
			if n, ok := values.Elem(i).Value.(ast.Number); ok {
				i, _ := n.Int()
				widest = max(widest, min(max(i, -i), longestWidth))
			}
		}
	}
	verbs, widths := 0, 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		verbs++
		width := 0
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0; i++ {
			switch c := format[i]; {
			case '0' <= c && c <= '9':
				width = min(10*width+int(c-'0'), longestWidth)
			case c == '*':
				widths += widest
			default:
				widths, width = widths+width, 0
			}
		}
		widths += width
	}
	return len(format) + widths + verbs*(element+ofContent(operands[1:2], budget))
}

func ofSplit(operands []*ast.Term, _ int) int {
	return part * (1 + strings.Count(textAt(operands, 0), textAt(operands, 1)))
}

func ofReplace(operands []*ast.Term, _ int) int {
	s := textAt(operands, 0)
	return len(s) + strings.Count(s, textAt(operands, 1))*len(textAt(operands, 2))
}

// ofReplaceN estimates the text after all replacements, and the tables of Go's replacer: one for each byte of the keys.
func ofReplaceN(operands []*ast.Term, _ int) int {
	s, keys, made := textAt(operands, 1), 0, 0
	if patterns, ok := operands[0].Value.(ast.Object); ok {
		patterns.Foreach(func(k, v *ast.Term) {
			pair := []*ast.Term{k, v}
			keys += len(textAt(pair, 0))
			made += strings.Count(s, textAt(pair, 0)) * len(textAt(pair, 1))
		})
	}
	return len(s) + made + 512*keys
}

// ofPattern is the cost of compiling and matching a pattern: tooMuch if its compiled form exceeds maxPattern.
func ofPattern(operands []*ast.Term, budget int) int {
	if pattern := textAt(operands, 0); part*len(pattern)*repeats(pattern) > maxPattern {
		return tooMuch
	}
	return ofContent(operands, budget)
}

// repeats returns the largest number in a pattern: {1000} makes a thousand copies of the expression before it.
func repeats(pattern string) int {
	most, n := 1, 0
	for _, c := range []byte(pattern) {
		if n = min(10*n+int(c)-'0', 1000); c < '0' || '9' < c {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// ofMatches counts each match with all its groups.
func ofMatches(operands []*ast.Term, budget int) int {
	pattern, s := textAt(operands, 0), textAt(operands, 1)
	return ofPattern(operands[:2], budget) + part*(len(s)+1)*(1+strings.Count(pattern, "("))
}

// ofRegexReplace assumes a match at each byte.
func ofRegexReplace(operands []*ast.Term, budget int) int {
	s, value := textAt(operands, 0), textAt(operands, 2)
	return ofPattern(operands[1:2], budget) + (len(s)+1)*(len(value)+1)
}

// ofIndented multiplies the document by the options, since each member has the indent once for each level above it.
func ofIndented(operands []*ast.Term, budget int) int {
	indent := 1
	if options, ok := operands[1].Value.(ast.Object); ok {
		indent += ofContent([]*ast.Term{ast.NewTerm(options)}, budget)
	}
	return ofContent(operands[:1], budget) * indent
}

// ofPatch counts the document once for each operation of the patch.
func ofPatch(operands []*ast.Term, budget int) int {
	return (1 + size(operands[1].Value)) * ofContent(operands[:2], budget)
}

func ofAddresses(operands []*ast.Term, _ int) int {
	_, block, err := net.ParseCIDR(textAt(operands, 0))
	if err != nil {
		return 0 // the built-in reports the error
	}
	if ones, bits := block.Mask.Size(); bits-ones < 20 {
		return address << (bits - ones)
	}
	return tooMuch
}

// ofPairs counts each pair of a member of one operand and one of the other.
func ofPairs(operands []*ast.Term, _ int) int {
	return 2 * element * max(1, size(operands[0].Value)) * max(1, size(operands[1].Value))
}
