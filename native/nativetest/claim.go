package nativetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fulmen/native"
)

// claim is what a script says about facts. It is judged as often as its Macs are
// read, until it holds or the script's patience ends.
type claim struct {
	// relation is "present", "absent", "gone", "count", "same", "differ", or an
	// operator.
	relation string
	// facts are one fact, or the two of same and differ.
	facts []factPath
	// value is a text, float64 or bool that the operator compares with; for
	// count a float64.
	value any
	// reason is the key that absent wants.
	reason string
}

// operators are those that expect knows, with what they compare.
var operators = map[string][]kind{
	"==": {kindText, kindNumber, kindYesNo}, "!=": {kindText, kindNumber, kindYesNo},
	"<": {kindNumber}, "<=": {kindNumber}, ">": {kindNumber}, ">=": {kindNumber},
	"contains": {kindList}, "lacks": {kindList},
}

// judge returns nil when the claim holds in the snapshots, one for each of its
// facts, else what was found instead.
func (c claim) judge(snapshots []native.Snapshot) error {
	values := make([]any, len(c.facts))
	for i, fact := range c.facts {
		value, missing, err := fact.lookUp(snapshots[i])
		if err != nil {
			return err
		}
		if missing != nil {
			return c.judgeGap(fact, *missing)
		}
		values[i] = value
	}
	switch c.relation {
	case "absent", "gone":
		return fmt.Errorf("%s is there: %s", c.facts[0], shown(values[0]))
	case "present":
		return nil
	case "count":
		list, _ := values[0].([]any)
		if float64(len(list)) != c.value {
			return fmt.Errorf("%s has %d elements: %s", c.facts[0], len(list), shown(list))
		}
		return nil
	case "same", "differ":
		if same := shown(values[0]) == shown(values[1]); same != (c.relation == "same") {
			return fmt.Errorf("%s is %s, %s is %s", c.facts[0], shown(values[0]), c.facts[1], shown(values[1]))
		}
		return nil
	}
	if !compare(c.relation, values[0], c.value) {
		return fmt.Errorf("%s is %s", c.facts[0], shown(values[0]))
	}
	return nil
}

// judgeGap judges a claim whose fact is not there.
func (c claim) judgeGap(fact factPath, missing gap) error {
	switch {
	case c.relation == "gone" && missing.last && missing.element && missing.matches == 0:
		return nil
	case c.relation == "absent" && missing.last && !missing.element && missing.reason.Key() == c.reason:
		return nil
	}
	return fmt.Errorf("%s: %s", fact, missing)
}

// compare holds a value of a snapshot against one of a script. The parser has
// seen to it that they are of one kind.
func compare(operator string, found, wanted any) bool {
	if list, ok := found.([]any); ok {
		return slices.ContainsFunc(list, func(element any) bool { return compare("==", element, wanted) }) == (operator == "contains")
	}
	if number, ok := found.(json.Number); ok {
		// Exact to 2^53, which is a thousand times the fastest cable.
		if f, err := number.Float64(); err == nil {
			found = f
		}
	}
	a, isNumber := found.(float64)
	b, alsoNumber := wanted.(float64)
	if operator == "==" || operator == "!=" || !isNumber || !alsoNumber {
		return (found == wanted) == (operator == "==")
	}
	switch operator {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// shown is a value as JSON.
func shown(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// claim reads a line that says what must hold of facts.
func (p *scriptParser) claim(line string, words []string) (claim, error) {
	switch words[0] {
	case "expect":
		return p.expect(line, words)
	case "absent":
		return p.absent(words)
	case "same", "differ":
		return p.join(words)
	case "count":
		if len(words) != 5 {
			return claim{}, errors.New("want: count MAC AREA PATH N")
		}
		fact, err := p.fact(words[1:4])
		if err == nil && kindOf(fact.leaf) != kindList {
			err = fmt.Errorf("%s is not a list", fact)
		}
		if err != nil {
			return claim{}, err
		}
		n, err := number(words[4])
		return claim{relation: words[0], facts: []factPath{fact}, value: n}, err
	}
	if len(words) != 4 {
		return claim{}, fmt.Errorf("want: %s MAC AREA PATH", words[0])
	}
	fact, err := p.fact(words[1:])
	if err == nil && words[0] == "gone" && fact.segments[len(fact.segments)-1].filter == nil {
		err = errors.New("gone wants an element of a list; a fact that is not there is absent")
	}
	return claim{relation: words[0], facts: []factPath{fact}}, err
}

func (p *scriptParser) expect(line string, words []string) (claim, error) {
	if len(words) < 6 {
		return claim{}, errors.New("want: expect MAC AREA PATH OPERATOR VALUE")
	}
	fact, err := p.fact(words[1:4])
	if err != nil {
		return claim{}, err
	}
	operator := words[4]
	kinds, ok := operators[operator]
	if !ok {
		return claim{}, fmt.Errorf("no operator %.40q", operator)
	}
	want := kindOf(fact.leaf)
	if !slices.Contains(kinds, want) {
		return claim{}, fmt.Errorf("%s compares no %s", operator, want)
	}
	if want == kindList {
		want = kindOf(plain(fact.leaf.Elem()))
	}
	// The value is the rest of the line, because a text may hold spaces.
	rest := line
	for _, word := range words[:5] {
		rest = strings.TrimSpace(strings.TrimPrefix(rest, word))
	}
	value, err := parseValue(rest, want)
	return claim{relation: operator, facts: []factPath{fact}, value: value}, err
}

// parseValue reads a JSON text, number or boolean of the kind that the fact has.
func parseValue(text string, want kind) (any, error) {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("value %.40q is not JSON: %w", text, err)
	}
	is := kindUnknown
	switch value.(type) {
	case string:
		is = kindText
	case float64:
		is = kindNumber
	case bool:
		is = kindYesNo
	}
	if is == kindUnknown || is != want {
		return nil, fmt.Errorf("value %.40q is not a %s, which the fact is", text, want)
	}
	return value, nil
}

func (p *scriptParser) absent(words []string) (claim, error) {
	reason := ""
	if n := len(words); n >= 2 && words[n-2] == "reason" {
		words, reason = words[:n-2], words[n-1]
		if !isName(reason) {
			return claim{}, fmt.Errorf("%.40q is not the key of a reason", reason)
		}
	}
	if len(words) > 4 {
		return claim{}, errors.New("want: absent MAC AREA [PATH] [reason KEY]")
	}
	fact, err := p.fact(words[1:])
	if err != nil {
		return claim{}, err
	}
	if n := len(fact.segments); n > 0 && fact.segments[n-1].filter != nil {
		return claim{}, errors.New("an element of a list is gone, not absent")
	}
	if fact.optional == (reason != "") {
		return claim{}, fmt.Errorf("%s: its absence needs a reason: %v", fact, !fact.optional)
	}
	return claim{relation: words[0], facts: []factPath{fact}, reason: reason}, nil
}

func (p *scriptParser) join(words []string) (claim, error) {
	if len(words) != 7 {
		return claim{}, fmt.Errorf("want: %s MAC AREA PATH MAC AREA PATH", words[0])
	}
	a, err := p.fact(words[1:4])
	if err != nil {
		return claim{}, err
	}
	b, err := p.fact(words[4:])
	if err != nil {
		return claim{}, err
	}
	if kindOf(a.leaf) != kindOf(b.leaf) {
		return claim{}, fmt.Errorf("%s is a %s, %s a %s", a, kindOf(a.leaf), b, kindOf(b.leaf))
	}
	return claim{relation: words[0], facts: []factPath{a, b}}, nil
}
