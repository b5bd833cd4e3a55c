package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native/tomltext"
)

// Problem is one fault of a configuration.
type Problem struct {
	// Place is where in the file; a zero Line is nowhere in particular.
	Place tomltext.Place
	// Reason is api.ReasonConfigUnknownKey or api.ReasonConfigInvalid.
	Reason api.Reason
	// Key is the key it is about; empty where the text as a whole is no TOML.
	Key string
	// Message is one sentence.
	Message string
}

// ParseError is everything that is wrong with a configuration, in the order of
// the file; there is at least one.
type ParseError struct {
	// Problems are the faults.
	Problems []Problem
}

// sort orders by place, and makes an error of what is there; nil if nothing is.
func (e *ParseError) sort() error {
	if len(e.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column))
	})
	return e
}

// Error is the first fault, and how many more there are.
func (e *ParseError) Error() string { return e.In("").Error() }

// In is the error as every surface carries it, with the name of the file in
// front of the line, as in config.toml:12:3.
func (e *ParseError) In(file string) *api.Error {
	first := e.Problems[0]
	message := first.where(file) + first.Message
	if more := len(e.Problems) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	out := api.Errorf(first.Reason, cmp.Or(first.Key, file), "%s", message).WithRemedy("`fulmen config` shows every key with its range and default.")
	for _, p := range e.Problems {
		out.Data.Causes = append(out.Data.Causes, api.Cause{Reason: p.Reason, Message: p.where(file) + p.Message, Subject: p.Key})
	}
	return out
}

func (p Problem) where(file string) string {
	switch {
	case p.Place.Line == 0 && file == "":
		return ""
	case p.Place.Line == 0:
		return file + ": "
	case file == "":
		return fmt.Sprintf("line %d, column %d: ", p.Place.Line, p.Place.Column)
	}
	return fmt.Sprintf("%s:%d:%d: ", file, p.Place.Line, p.Place.Column)
}

// sentence ends with a mark.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
