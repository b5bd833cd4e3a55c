package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/darwin"
)

// fixedRight is a right that always answers so.
type fixedRight struct{ err error }

func (a fixedRight) Define(context.Context) error        { return a.err }
func (a fixedRight) Check(context.Context, []byte) error { return a.err }

// What the system says becomes what the client is told; the form is in no line.
func TestAuthorizer(t *testing.T) {
	const form = "abcdefghijklmnopqrstuvwxyzabcdef"
	lost := errors.New("authd is away")
	for name, c := range map[string]struct{ err, want error }{
		"granted":  {nil, nil},
		"refused":  {fmt.Errorf("check: %w", darwin.ErrNotAuthorized), api.ReasonAdminRequired},
		"no form":  {darwin.ErrNoForm, api.ReasonBadValue},
		"no check": {lost, lost},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var log bytes.Buffer
			a := authorizer{fixedRight{c.err}, slog.New(slog.NewTextHandler(&log, nil))}
			err := a.Authorize(t.Context(), 501, []byte(form))
			is.True(errors.Is(err, c.want))
			is.True(!strings.Contains(log.String()+fmt.Sprint(err), form))
			is.Equal(strings.Contains(log.String(), "uid=501"), c.err == nil || errors.Is(c.err, darwin.ErrNotAuthorized))
		})
	}
}

// Where nobody is asked, there is nothing to show an authorisation to.
func TestAuthorizerWhereNobodyIsAsked(t *testing.T) {
	for name, d := range map[string]struct {
		mode    api.DaemonMode
		options Options
	}{
		"user mode":  {mode: api.ModeUser},
		"simulation": {mode: api.ModeSystem, options: Options{Simulation: &Simulation{}}},
		"a platform": {mode: api.ModeSystem, options: Options{Platform: native.Platform{Name: "darwin"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, there := authorizes(d.options, d.mode, slog.New(slog.DiscardHandler))
			is.New(t).True(!there)
		})
	}
}
