//go:build cgo && linux && darwinsim

package simmac_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
)

const (
	adminRight = "org.fulmen.admin"
	denied     = -60005 // errAuthorizationDenied
	broken     = -60008 // errAuthorizationInternal
)

// formOf is an external form that begins with a letter.
func formOf(letter string) string { return strings.Repeat(letter, 32) }

// A right that anybody gave to everybody, before this process defined it.
func stolen() map[string]any {
	return map[string]any{adminRight: map[string]any{"class": "allow"}}
}

// Who was authenticated for the right in the last five minutes has it; root asks,
// which gives it to nobody else.
func TestRightIsGranted(t *testing.T) {
	clean(t)
	m := simfw.New()
	defer m.Close()
	m.SetValue("rights", stolen())
	m.SetValue("authorizations", map[string]any{
		formOf("a"): map[string]any{adminRight: 4},
		formOf("b"): map[string]any{},
		formOf("c"): map[string]any{"system.preferences": 4},
		formOf("d"): map[string]any{adminRight: 301},
		formOf("e"): map[string]any{adminRight: 300},
	})
	right := darwin.Simulated{Machine: m}.Right(adminRight)
	for name, c := range map[string]struct {
		form string
		want error
	}{
		"granted":         {formOf("a"), nil},
		"never asked":     {formOf("b"), darwin.ErrNotAuthorized},
		"for another":     {formOf("c"), darwin.ErrNotAuthorized},
		"too long ago":    {formOf("d"), darwin.ErrNotAuthorized},
		"just in time":    {formOf("e"), nil},
		"malformed":       {formOf("z"), darwin.ErrNotAuthorized},
		"zeros":           {formOf("\x00"), darwin.ErrNotAuthorized},
		"a byte too few":  {formOf("a")[1:], darwin.ErrNoForm},
		"a byte too many": {formOf("a") + "a", darwin.ErrNoForm},
		"empty":           {"", darwin.ErrNoForm},
	} {
		t.Run(name, func(t *testing.T) {
			is.New(t).True(errors.Is(right.Check(t.Context(), []byte(c.form)), c.want))
		})
	}
}

// Where the definition is refused, what the database has does not count; where the
// check fails, that is no refusal of the client's.
func TestRightWhereTheSystemFails(t *testing.T) {
	clean(t)
	is := is.New(t)
	m := simfw.New()
	defer m.Close()
	m.SetValue("rights", stolen())
	m.SetValue("authorizations", map[string]any{formOf("a"): map[string]any{adminRight: 0}})
	right := darwin.Simulated{Machine: m}.Right(adminRight)

	m.SetValue("authorization_status", denied)
	err := right.Define(t.Context())
	is.True(err != nil && !errors.Is(err, darwin.ErrNotAuthorized)) // not root
	m.SetValue("authorization_status", denied)
	err = right.Check(t.Context(), []byte(formOf("a")))
	is.True(err != nil && !errors.Is(err, darwin.ErrNotAuthorized))
	is.NoErr(right.Check(t.Context(), []byte(formOf("a")))) // defined in the end

	m.SetValue("authorization_status", broken)
	err = right.Check(t.Context(), []byte(formOf("a")))
	is.True(err != nil && !errors.Is(err, darwin.ErrNotAuthorized))
	is.True(!strings.Contains(err.Error(), "aaaa")) // a form is in no message
	is.NoErr(right.Check(t.Context(), []byte(formOf("a"))))
}
