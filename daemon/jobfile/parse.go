package jobfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"fulmen/daemon/api"
	"fulmen/native/tomltext"
)

// maxProblems bounds how many problems one file is told of at once.
const maxProblems = 20

// Problem is one fault of a file.
type Problem struct {
	// Line is where it is, from 1; 0 where that is not known.
	Line int
	// Message is what is wrong, without a full stop.
	Message string
}

// Error is everything that is wrong with a file.
type Error struct {
	// File is its name, as it was given.
	File string
	// Problems are at least one, in the order of their lines.
	Problems []Problem
}

// Error is a line for each problem: FILE:LINE: what is wrong.
func (e *Error) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, e.Line(p))
	}
	return strings.Join(lines, "\n")
}

// Line is a problem with where it is: FILE:LINE: what is wrong.
func (e *Error) Line(p Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, p.Line, p.Message)
	}
	return e.File + ": " + p.Message
}

// Explain makes of what is wrong with a file an error for people; any other error stays.
func Explain(err error, what string) error {
	wrong, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	e := api.Errorf(api.ReasonBadValue, wrong.File, "%s %s.", wrong.File, what).WithRemedy("docs/reference.md has the fields of JobRequest.")
	for _, p := range wrong.Problems {
		e.Data.Causes = append(e.Data.Causes, api.Cause{Reason: api.ReasonBadValue, Subject: wrong.File, Message: wrong.Line(p)})
	}
	return e
}

// Parse reads a file's text. Names of nodes become ids by node, whose error is
// one of the file's. The error is an *Error; directories and defaults are left
// to whoever submits the request.
func Parse(file, text string, node func(word string) (api.NodeID, error)) (api.JobRequest, error) {
	var request api.JobRequest
	values, lines, problem := decode(text)
	if problem != nil {
		return request, &Error{file, []Problem{*problem}}
	}
	r := reader{lines: lines, node: node}
	r.table(place{}, values, reflect.TypeFor[api.JobRequest]())
	if len(r.problems) > 0 {
		return request, &Error{file, r.sorted()}
	}
	raw, err := json.Marshal(values)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields() // the reader knows no less
		err = decoder.Decode(&request)
	}
	if err != nil {
		return api.JobRequest{}, &Error{file, []Problem{r.wrongType(err)}}
	}
	return request, nil
}

// decode reads TOML, and says where it is none.
func decode(text string) (values map[string]any, lines tomltext.Lines, problem *Problem) {
	broken := func(line int, message string) (map[string]any, tomltext.Lines, *Problem) {
		return nil, nil, &Problem{line, message}
	}
	switch {
	case len(text) > api.MaxSpecBytes:
		return broken(0, fmt.Sprintf("the file has %d bytes, more than the %d of a job", len(text), api.MaxSpecBytes))
	case !utf8.ValidString(text):
		return broken(0, "the file is not text in UTF-8")
	}
	layout, err := tomltext.Scan(text) // what is no TOML the decoder says better
	if errors.Is(err, tomltext.ErrTooDeep) {
		return broken(0, "tables or lists are nested too deeply")
	}
	// The library panics with other values than its errors only through a defect.
	defer func() {
		if recover() != nil {
			values, lines, problem = broken(0, "the file is not valid TOML")
		}
	}()
	if _, err := toml.Decode(text, &values); err != nil {
		if p, ok := errors.AsType[toml.ParseError](err); ok {
			return broken(p.Position.Line, p.Message)
		}
		return broken(0, err.Error())
	}
	return values, layout.Lines, nil
}

// given is what a value of the file is, in words, by the decoder's own; the rest are numbers.
var given = map[string]string{"string": "a string", "bool": "true or false", "array": "a list", "object": "a table"}

// inList is where in a list a field is, as Go 1.27 has it in the field's path.
var inList = regexp.MustCompile(`\.\d+\.`)

// wrongType is the decoder's complaint about a value.
func (r *reader) wrongType(err error) Problem {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := inList.ReplaceAllString(e.Field, ".")
		return Problem{r.lineOf(field), fmt.Sprintf("%s must be %s, not %s", field, wanted(e.Type), cmp.Or(given[e.Value], "a number"))}
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return Problem{0, strings.TrimSuffix(e.Message, ".")}
	}
	return Problem{0, strings.TrimPrefix(err.Error(), "json: ")}
}

// wanted is a type in words.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text in quotes"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "a table"
}
