package command

import (
	"errors"
	"fmt"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// usageError is a command line that makes no sense.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// usage makes a usageError.
func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// silent ends a command with a failure that it has shown already.
type silent struct{}

func (silent) Error() string { return "failed" }

// notRunning is a daemon that was not found.
func notRunning() *api.Error {
	e := api.Errorf(api.ReasonNoDaemon, "", "Fulmen is not running.")
	e.Data.Remedy = howToStart
	return e
}

// howToStart is the next step where there is no daemon.
const howToStart = "Start it with: fulmend"

// explain says what went wrong and what to do next; as JSON where JSON is wanted.
func (r *run) explain(err error) {
	if errors.As(err, &silent{}) || errors.As(err, &exited{}) {
		return
	}
	known, ok := errors.AsType[*api.Error](err)
	if !ok {
		message := err.Error()
		known = &api.Error{Code: api.CodeInternal, Message: message, Data: api.ErrorData{Reason: api.ReasonInternal}}
		if errors.As(err, &usageError{}) {
			known = &api.Error{Code: api.CodeInvalid, Message: message, Data: api.ErrorData{Reason: api.ReasonBadValue, Remedy: "See: fulmen help"}}
		}
	}
	known = rephrase(known)
	if r.json {
		_ = text.JSON(r.Err, map[string]*api.Error{"error": known}) // nobody is left to tell
		return
	}
	fmt.Fprintf(r.Err, "fulmen: %s\n", text.Clean(known.Message))
	for _, c := range known.Data.Causes {
		fmt.Fprintf(r.Err, "  %s\n", text.Clean(c.Message))
	}
	if known.Data.Remedy != "" {
		fmt.Fprintf(r.Err, "  %s\n", text.Clean(known.Data.Remedy))
	}
}

// rephrase makes an error fit for somebody at a command line, where the API's
// is about addresses and methods.
func rephrase(e *api.Error) *api.Error {
	out := *e
	switch {
	case notBuilt(e):
		out.Message = "The daemon that runs does not have this yet."
		out.Data.Remedy = "Update fulmend, or see what it has: fulmen version --json"
	case e.Data.Reason == api.ReasonNoDaemon && e.Data.Remedy == api.NewError(api.ReasonNoDaemon, "").Data.Remedy:
		out.Data.Remedy = "See: fulmen doctor" // it was there a moment ago
	}
	return &out
}

// notBuilt reports whether the daemon is of a version that lacks a method.
func notBuilt(err error) bool {
	return errors.Is(err, api.ReasonNotBuiltYet) || errors.Is(err, api.ReasonUnknownMethod)
}
