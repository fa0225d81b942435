package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// conditions returns lines of a body with a condition on a value. The lines may declare variables.
func (p *program) conditions(v value) []string {
	switch v.kind {
	case aText:
		return []string{p.text(v)}
	case aFlag:
		return []string{p.flag(v)}
	case aNumber:
		return []string{p.number(v)}
	case aList:
		return p.list(v)
	case aTable:
		return p.table(v)
	case aPart:
		return p.part(v)
	}
	return []string{v.text + " != null"}
}

// name returns a new name of a variable.
func (p *program) name() string {
	p.named++
	return "x" + strconv.Itoa(p.named)
}

// like returns a constant that the value had in a random question, and one in twelve times any constant.
func (p *program) like(v value) string {
	if len(v.seen) == 0 || p.IntN(12) == 0 {
		return One(p.Rand, `"user-bob-v1"`, `"acct-demo-v1"`, `"read"`, `""`)
	}
	return One(p.Rand, v.seen...)
}

// other returns a value of the kind elsewhere in the input, or a constant if the rules read no such value.
func (p *program) another(kind string) value {
	all := p.inputs.plain(kind)
	if !p.timed {
		all = slices.DeleteFunc(all, func(v value) bool { return v.text == "input.now" })
	}
	if len(all) == 0 {
		return value{map[string]string{aText: `"user-bob-v1"`, aFlag: "true", aNumber: "1767225600000"}[kind], &form{kind: kind}}
	}
	return One(p.Rand, all...)
}

func unquoted(constant string) string {
	text, err := strconv.Unquote(constant)
	if err != nil {
		return constant
	}
	return text
}

// begin returns a prefix of a constant.
func (p *program) begin(constant string) string {
	text := unquoted(constant)
	return strconv.Quote(text[:p.IntN(len(text)+1)])
}

// text returns a comparison of a text with constants, with data or with another text, also by built-ins and functions.
func (p *program) text(v value) string {
	t, c, d := v.text, p.like(v), p.like(v)
	o := p.another(aText).text
	if p.followed && p.IntN(8) > 0 {
		return One(p.Rand, t+" == "+c, c+" == "+t, t+" != "+c, "not "+t+" == "+c, t+" in {"+c+", "+d+"}", "not "+t+" in {"+c+", "+d+"}", "startswith("+t+", "+p.begin(c)+")",
			"data.tables.allowed["+t+"]", "not data.tables.allowed["+t+"]", t+" in data.tables.list", "data.tables.names["+t+"] == "+p.like(v), "same("+t+", "+c+")", "known("+t+")",
			t+" == data.tables.prefix", "not startswith("+t+", "+p.begin(c)+")")
	}
	switch p.IntN(3) {
	case 0:
		return One(p.Rand, t+" == "+c, t+" == "+c, c+" == "+t, t+" != "+c, "not "+t+" == "+c, t+" in {"+c+", "+d+"}", "not "+t+" in ["+c+", "+d+"]",
			"startswith("+t+", "+p.begin(c)+")", "endswith("+t+", \"v1\")", "contains("+t+", "+p.begin(c)+")", t+" >= "+c, t+" < "+c,
			"regex.match(`^[a-m]`, "+t+")", "count("+t+") > "+strconv.Itoa(p.IntN(12)), "upper("+t+") == upper("+c+")",
			"split("+t+", \"/\")[0] == split("+c+", \"/\")[0]", "substring("+t+", 0, 4) == substring("+c+", 0, 4)", "trim_suffix("+t+", \"-v1\") != "+c,
			"sprintf(\"%s.\", ["+t+"]) == concat(\"\", ["+c+", \".\"])", "same("+t+", "+c+")", "kin("+t+", "+c+")", "is_string("+t+")",
			"indexof("+t+", \"-\") == indexof("+c+", \"-\")", "{"+c+": 1, "+p.like(v)+": 2}["+t+"] == 1", "count([1 | some w in {"+t+": 1, "+c+": 2}; w == 1]) > 0",
			"[w | some w in ({"+t+"} | {"+c+"})][0] == "+c, "[w | some w in {k | some k in ["+t+", "+c+"]}][0] == "+t, "{"+t+", "+c+"} - {"+d+"} == set()", "every w in {"+t+", "+c+"} { w == "+c+" }")
	case 1:
		return One(p.Rand, "data.tables.allowed["+t+"]", "not data.tables.allowed["+t+"]", "data.tables.names["+t+"] == "+p.like(v), t+" in data.tables.list",
			"startswith("+t+", data.tables.prefix)", "object.get(data.tables.names, "+t+", \"none\") == \"none\"", "known("+t+")", "t_named("+t+") == "+c,
			"data.tables.names["+t+"] == "+o, "data.tables.names["+t+"] == data.tables.names["+o+"]", "t_named("+t+") == t_named("+o+")",
			"count([1 | some k, w in data.tables.names; k == "+t+"; w == "+o+"]) > 0", "data.tables.numbers["+t+"] > 1", t+" == data.tables.prefix")
	}
	return One(p.Rand, t+" == "+o, t+" == "+o, o+" == "+t, t+" != "+o, "not "+t+" == "+o, t+" in {"+o+", "+c+"}", "startswith("+t+", "+o+")", "contains("+o+", "+t+")",
		t+" < "+o, "count("+t+") == count("+o+")", "concat(\":\", ["+t+", "+c+"]) == concat(\":\", ["+o+", "+c+"])", "same("+t+", "+o+")", "kin("+o+", "+t+")",
		"count({"+t+", "+o+"}) == 1", "min({"+t+", "+o+"}) == "+t, "["+t+", "+c+"] == ["+o+", "+d+"]", "sprintf(\"%s/%s\", ["+t+", "+o+"]) == "+p.like(v),
		"same(lower("+t+"), lower("+o+"))", "same(t_first("+t+"), t_first("+o+"))", "{"+t+": 1}["+o+"] == 1", "to_number("+t+") == 1", "split("+t+", \"-\")[0] == split("+o+", \"-\")[0]")
}

func (p *program) flag(v value) string {
	o := p.another(aFlag).text
	return One(p.Rand, v.text, v.text, v.text+" == true", v.text+" == false", "not "+v.text, v.text+" != true", v.text+" == "+o, "same("+v.text+", "+o+")", v.text+" in {false}",
		"{true: \"a\", false: \"b\"}["+v.text+"] == \"b\"")
}

func (p *program) number(v value) string {
	t, c, o := v.text, p.like(v), p.another(aNumber).text
	if p.timed && p.IntN(6) == 0 {
		return One(p.Rand, "time.now_ns() < "+strconv.FormatInt(int64(p.now()), 10)+"000000", "time.weekday(time.now_ns()) == \"Thursday\"")
	}
	if !strings.ContainsAny(c[:1], "-0123456789") {
		c = "0"
	}
	if p.followed && p.IntN(4) > 0 {
		return One(p.Rand, t+" < "+c, t+" <= "+c, c+" < "+t, t+" >= "+c, t+" < data.tables.until", t+" >= data.tables.until", t+" == "+c)
	}
	return One(p.Rand, t+" < "+c, t+" <= "+c, t+" > "+c, t+" == "+c, c+" < "+t, t+" != "+c, t+" in {"+c+", 0}", t+" % 2 == 0", t+" - 1000 > "+c, t+" < data.tables.until",
		t+" == "+o, t+" <= "+o, "before("+t+", "+o+")", "before("+t+", "+c+")", "format_int("+t+", 10) == format_int("+c+", 10)", "min({"+t+", "+c+"}) == "+t, "is_number("+t+")",
		"time.clock("+t+" * 1000000)[0] < 5", "time.weekday("+t+" * 1000000) in {\"Thursday\", \"Monday\"}", "abs("+t+" - "+o+") < 5000")
}

// counted returns the conditions as one condition: how many times they hold. It declares no variables.
func counted(lines []string, compared string) string {
	return "count([1 | " + strings.Join(lines, "; ") + "]) " + compared
}

func (p *program) list(v value) []string {
	x, y := p.name(), p.name()
	item, each := value{x, v.each}, "some "+x+" in "+v.text
	switch p.IntN(10) {
	case 0:
		return []string{"count(" + v.text + ")" + One(p.Rand, " > ", " == ", " != ", " < ") + strconv.Itoa(p.IntN(4))}
	case 1:
		return []string{"every " + x + " in " + v.text + " { " + strings.Join(p.conditions(item), "; ") + " }"}
	case 2:
		return []string{counted(append([]string{each}, p.conditions(item)...), One(p.Rand, "== 0", "> 1", "!= 1"))}
	case 3:
		return p.conditions(value{v.text + "[" + strconv.Itoa(p.IntN(2)) + "]", v.each})
	case 4:
		return append([]string{"some " + y + ", " + x + " in " + v.text, y + " > 0"}, p.conditions(item)...)
	case 5:
		return []string{"count(" + v.text + ") == count({" + x + " | " + each + "})"}
	case 6:
		other := value{y, v.each}
		return slices.Concat([]string{each, "some " + y + " in " + v.text, x + " != " + y}, p.conditions(item), p.conditions(other))
	}
	return slices.Concat([]string{each}, p.conditions(item), p.conditions(item))
}

func (p *program) table(v value) []string {
	k, x := p.name(), p.name()
	key, under := p.like(v), p.conditions(value{x, v.each})
	switch p.IntN(9) {
	case 0:
		return []string{"count(" + v.text + ")" + One(p.Rand, " > ", " == ", " != ") + strconv.Itoa(p.IntN(3))}
	case 1:
		return append([]string{"some " + k + ", " + x + " in " + v.text, p.text(value{k, &form{kind: aText, seen: v.seen}})}, under...)
	case 2:
		return append([]string{"some " + x + " in " + v.text}, under...)
	case 3:
		return p.conditions(value{v.text + "[" + p.another(aText).text + "]", v.each})
	case 4:
		return []string{One(p.Rand, "", "not ") + key + " in object.keys(" + v.text + ")"}
	case 5:
		return []string{One(p.Rand, "not "+v.text+"["+key+"]", "object.get("+v.text+", "+key+", false) != false", "object.get("+v.text+", "+key+", null) == null")}
	case 6:
		return []string{counted(append([]string{"some " + x + " in " + v.text}, under...), One(p.Rand, "== 0", "> 1"))}
	}
	return p.conditions(value{v.text + "[" + key + "]", v.each})
}

func (p *program) part(v value) []string {
	names := slices.Sorted(maps.Keys(v.parts))
	if v.text == "input" && !p.timed {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "now" })
	} else if p.IntN(12) == 0 {
		return p.whole(v, names)
	}
	name := One(p.Rand, names...)
	below := value{v.text + One(p.Rand, "."+name, "."+name, "."+name, fmt.Sprintf("[%q]", name)), v.parts[name]}
	if v.text == "input" && p.IntN(12) == 0 {
		x := p.name()
		return append([]string{x + " := " + below.text}, p.conditions(value{x, below.form})...)
	}
	return p.conditions(below)
}

// whole returns conditions that read a part of the input as one value, or by variable names.
func (p *program) whole(v value, names []string) []string {
	x, k := p.name(), p.name()
	name, another := One(p.Rand, names...), One(p.Rand, names...)
	c := p.like(value{"", v.parts[name]})
	switch p.IntN(8) {
	case 0:
		return []string{"some " + x + " in " + v.text, x + " == " + c}
	case 1:
		return []string{fmt.Sprintf("some %s in {%q, %q}", k, name, another), v.text + "[" + k + "] == " + c}
	case 2:
		return []string{fmt.Sprintf("object.get(%s, %q, \"none\") == %s", v.text, name, c)}
	case 3:
		return append([]string{x + " := " + v.text}, p.conditions(value{x + "." + name, v.parts[name]})...)
	case 4:
		return []string{"contains(json.marshal(" + v.text + "), " + strconv.Quote(unquoted(c)) + ")"}
	case 5:
		return []string{c + " in " + v.text}
	case 6:
		return []string{"some " + k + ", " + x + " in " + v.text, k + " != " + strconv.Quote(name), x + " == " + p.like(value{"", v.parts[another]})}
	}
	return []string{v.text + "[" + p.another(aText).text + "] == " + c}
}
