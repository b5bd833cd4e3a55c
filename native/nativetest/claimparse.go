package nativetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
