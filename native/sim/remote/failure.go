package remote

import (
	"context"
	"errors"
	"syscall"

	"fulmen/native"
)

// maxCauses is how deep errors may be nested.
const maxCauses = 4

// failure is an error on its way: its text, and what callers ask of errors.
type failure struct {
	Message string `json:"message"`
	// Is names the errors that it matches.
	Is []string `json:"is,omitzero"`
	// Feature and Reason are those of a refusal.
	Feature native.Feature `json:"feature,omitzero"`
	Reason  native.Reason  `json:"reason,omitzero"`
	// Action, Subject and Cause are those of an action that failed.
	Action  native.Feature `json:"action,omitzero"`
	Subject string         `json:"subject,omitzero"`
	Cause   *failure       `json:"cause,omitzero"`
}

// sentinel is an error that is known by name.
type sentinel struct {
	name string
	err  error
}

func sentinels() []sentinel {
	return []sentinel{
		{"closed", native.ErrClosed}, {"not_found", native.ErrNotFound}, {"stale", native.ErrStale},
		{"exists", native.ErrExists}, {"permission", native.ErrPermission},
		{"cancelled", context.Canceled}, {"deadline", context.DeadlineExceeded},
		{"connection_refused", syscall.ECONNREFUSED}, {"no_device", syscall.ENODEV}, {"address_in_use", syscall.EADDRINUSE},
		{"network_down", syscall.ENETDOWN}, {"invalid", syscall.EINVAL},
	}
}

// failed makes an error ready to be sent.
func failed(err error) *failure {
	f := &failure{Message: err.Error()}
	if action, ok := err.(*native.ActionError); ok {
		f.Action, f.Subject, f.Cause = action.Action, action.Subject, failed(action.Err)
		return f
	}
	if refusal, ok := errors.AsType[*native.UnsupportedError](err); ok {
		f.Feature, f.Reason = refusal.Feature, refusal.Reason
	}
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			f.Is = append(f.Is, s.name)
		}
	}
	return f
}

func (f *failure) check(depth int) error {
	switch {
	case f.Message == "":
		return errors.New("an error without a message")
	case depth == 0:
		return errors.New("an error nested too deep")
	case f.Cause != nil:
		return f.Cause.check(depth - 1)
	}
	return nil
}

// err is the error as callers know it.
func (f *failure) err() error {
	if f.Action != "" && f.Cause != nil {
		return &native.ActionError{Action: f.Action, Subject: f.Subject, Err: f.Cause.err()}
	}
	err := &reportedError{text: f.Message}
	if f.Feature != "" {
		refusal := &native.UnsupportedError{Feature: f.Feature, Reason: f.Reason}
		if refusal.Error() == f.Message {
			return refusal
		}
		err.causes = append(err.causes, refusal)
	}
	for _, s := range sentinels() {
		for _, name := range f.Is {
			if name != s.name {
				continue
			}
			if s.err.Error() == f.Message {
				return s.err
			}
			err.causes = append(err.causes, s.err)
		}
	}
	return err
}

// reportedError is an error of another process.
type reportedError struct {
	text   string
	causes []error
}

func (e *reportedError) Error() string   { return e.text }
func (e *reportedError) Unwrap() []error { return e.causes }

// GoneError says that the process which simulates has ended, or no longer
// answers. It matches [native.ErrClosed]: nothing more comes from the platform.
type GoneError struct {
	World string // the path of its socket
	Err   error  // how that was noticed
}

// Error names the world.
func (e *GoneError) Error() string {
	return "the simulated world at " + e.World + " is gone: " + e.Err.Error()
}

// Unwrap returns how it was noticed.
func (e *GoneError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, native.ErrClosed) true.
func (e *GoneError) Is(target error) bool { return target == native.ErrClosed }
