// Package schematest checks values against JSON Schema in tests, by itself and as OpenAPI has it.
package schematest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Validator checks values against the part of JSON Schema 2020-12 that the
// schema uses. A keyword that it does not know is an error, so that none is
// passed over in silence.
type Validator struct {
	// Root has the definitions.
	Root map[string]any
}

// annotations are keywords that say something to readers and check nothing.
var annotations = []string{"$schema", "$id", "$defs", "title", "description", "default", "format", "contentEncoding"}

// Check gives the first thing that is wrong with a value, as its path and why.
func (v Validator) Check(schema, value any, path string) error {
	if yes, ok := schema.(bool); ok {
		if !yes {
			return fmt.Errorf("%s must not be there", path)
		}
		return nil
	}
	keywords, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %T is no schema", path, schema)
	}
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		if slices.Contains(annotations, keyword) || strings.HasPrefix(keyword, "x-") {
			continue
		}
		if err := v.keyword(keyword, keywords, value, path); err != nil {
			return err
		}
	}
	return nil
}

func (v Validator) keyword(keyword string, schema map[string]any, value any, path string) error {
	arg := schema[keyword]
	switch keyword {
	case "$ref":
		def, ok := v.Definition(arg.(string))
		if !ok {
			return fmt.Errorf("%s: %s is not defined", path, arg)
		}
		return v.Check(def, value, path)
	case "type":
		return v.types(arg, value, path)
	case "const", "enum":
		return v.words(arg, value, path)
	case "pattern", "minLength":
		return v.text(keyword, arg, value, path)
	case "minimum", "maximum":
		return v.number(keyword, arg.(float64), value, path)
	case "items", "minItems", "maxItems":
		return v.list(keyword, arg, value, path)
	case "properties", "required", "additionalProperties":
		return v.object(keyword, schema, value, path)
	case "allOf", "anyOf", "oneOf":
		return v.several(keyword, arg.([]any), value, path)
	case "if":
		branch := schema["then"]
		if v.Check(arg, value, path) != nil {
			branch = schema["else"]
		}
		if branch == nil {
			return nil
		}
		return v.Check(branch, value, path)
	case "then", "else":
		return nil
	}
	return fmt.Errorf("%s: the keyword %q is not known here", path, keyword)
}

// Definition is what a reference within the document names.
func (v Validator) Definition(ref string) (any, bool) {
	at, isWithin := strings.CutPrefix(ref, "#/")
	var here any = v.Root
	for name := range strings.SplitSeq(at, "/") {
		fields, _ := here.(map[string]any)
		here = fields[name]
	}
	return here, isWithin && here != nil
}

func (v Validator) types(arg, value any, path string) error {
	list, ok := arg.([]any)
	if !ok {
		list = []any{arg}
	}
	have := "null"
	switch n := value.(type) {
	case bool:
		have = "boolean"
	case string:
		have = "string"
	case float64:
		have = "number"
		if n == math.Trunc(n) {
			have = "integer"
		}
	case []any:
		have = "array"
	case map[string]any:
		have = "object"
	}
	if slices.Contains(list, any(have)) || have == "integer" && slices.Contains(list, any("number")) {
		return nil
	}
	return fmt.Errorf("%s is %s, not %v", path, have, arg)
}

func (v Validator) words(arg, value any, path string) error {
	list, ok := arg.([]any)
	if !ok {
		list = []any{arg}
	}
	for _, w := range list {
		if reflect.DeepEqual(w, value) {
			return nil
		}
	}
	return fmt.Errorf("%s is %v, not one of %v", path, value, list)
}

func (v Validator) text(keyword string, arg, value any, path string) error {
	text, ok := value.(string)
	if !ok {
		return nil
	}
	if keyword == "pattern" && !regexp.MustCompile(arg.(string)).MatchString(text) {
		return fmt.Errorf("%s is %q, which does not match %s", path, text, arg)
	}
	if keyword == "minLength" && float64(utf8.RuneCountInString(text)) < arg.(float64) {
		return fmt.Errorf("%s is %q, which is too short", path, text)
	}
	return nil
}

func (v Validator) number(keyword string, bound float64, value any, path string) error {
	n, ok := value.(float64)
	if ok && (keyword == "minimum" && n < bound || keyword == "maximum" && n > bound) {
		return fmt.Errorf("%s is %v, beyond the %s of %v", path, n, keyword, bound)
	}
	return nil
}

func (v Validator) list(keyword string, arg, value any, path string) error {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	switch n := float64(len(list)); {
	case keyword == "minItems" && n < arg.(float64), keyword == "maxItems" && n > arg.(float64):
		return fmt.Errorf("%s has %d elements, against %s %v", path, len(list), keyword, arg)
	case keyword == "items":
		for i, e := range list {
			if err := v.Check(arg, e, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v Validator) object(keyword string, schema map[string]any, value any, path string) error {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	properties, _ := schema["properties"].(map[string]any)
	switch keyword {
	case "required":
		for _, name := range schema["required"].([]any) {
			if _, ok := fields[name.(string)]; !ok {
				return fmt.Errorf("%s.%s is missing", path, name)
			}
		}
	case "properties":
		for name, property := range properties {
			if field, ok := fields[name]; ok {
				if err := v.Check(property, field, path+"."+name); err != nil {
					return err
				}
			}
		}
	case "additionalProperties":
		for name, field := range fields {
			if _, ok := properties[name]; !ok {
				if err := v.Check(schema[keyword], field, path+"."+name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (v Validator) several(keyword string, list []any, value any, path string) error {
	var last error
	fits := 0
	for _, schema := range list {
		if err := v.Check(schema, value, path); err != nil {
			last = err
		} else {
			fits++
		}
	}
	switch {
	case keyword == "allOf" && fits < len(list), keyword == "anyOf" && fits == 0, keyword == "oneOf" && fits == 0:
		return last
	case keyword == "oneOf" && fits > 1:
		return fmt.Errorf("%s fits %d of the schemas that exclude each other", path, fits)
	}
	return nil
}

// Parse reads JSON as the validator takes it.
func Parse(raw []byte) (out any, err error) {
	err = json.Unmarshal(raw, &out)
	return out, err
}
