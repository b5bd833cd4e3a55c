package nativetest

import (
	"encoding/json"
	"fmt"
	"slices"

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
