package native

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// CheckUnknown walks facts and returns one line for each place that breaks the
// rule "absent with a reason": a field left out without a reason, a reason for
// a field that is present, or a reason for a field that does not exist. An
// empty answer means that the facts are honest.
//
// A struct takes part when it has a field Unknown of type [Reasons]. Of such a
// struct every field whose JSON tag says omitzero must be set or explained,
// except those tagged `native:"optional"`, whose absence is itself the answer
// (a Wi-Fi interface is in no bridge).
func CheckUnknown(facts any) []string {
	var problems []string
	checkUnknown(reflect.ValueOf(facts), "", &problems)
	slices.Sort(problems)
	return problems
}

func checkUnknown(v reflect.Value, path string, problems *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkUnknown(v.Elem(), path, problems)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			checkUnknown(v.Index(i), fmt.Sprintf("%s[%d]", path, i), problems)
		}
	case reflect.Struct:
		checkStruct(v, path, problems)
	}
}

func checkStruct(v reflect.Value, path string, problems *[]string) {
	t := v.Type()
	reasons, accountable := reasonsOf(v)
	present := map[string]bool{}
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		at := strings.TrimPrefix(path+"."+name, ".")
		absent := v.Field(i).IsZero()
		present[name] = !absent
		if field.Type == reflect.TypeFor[Reasons]() {
			continue
		}
		mayBeAbsent := strings.Contains(options, "omitzero") && field.Tag.Get("native") != "optional"
		if accountable && absent && mayBeAbsent && reasons[name] == "" {
			*problems = append(*problems, at+": absent without a reason")
		}
		checkUnknown(v.Field(i), at, problems)
	}
	for name := range reasons {
		at := strings.TrimPrefix(path+"."+name, ".")
		isPresent, exists := present[name]
		switch {
		case !exists:
			*problems = append(*problems, at+": a reason for a field that does not exist")
		case isPresent:
			*problems = append(*problems, at+": present and yet called unknown")
		}
	}
}

func reasonsOf(v reflect.Value) (Reasons, bool) {
	field := v.FieldByName("Unknown")
	if !field.IsValid() {
		return nil, false
	}
	reasons, ok := field.Interface().(Reasons)
	return reasons, ok
}
