package native

import (
	"errors"
	"syscall"
)

var (
	// ErrUnsupported is matched by every refusal of something that this
	// platform, version or machine cannot do. See [UnsupportedError].
	ErrUnsupported = errors.New("not supported here")
	// ErrPermission is matched when the system refused for want of privilege or consent.
	ErrPermission = errors.New("the system refused permission")
	// ErrLocalNetwork is matched when the system does not let this program reach
	// addresses on its own links: macOS asks a person, for each program that is not root's.
	ErrLocalNetwork = errors.New("the system does not let this program use the local network")
	// ErrNotFound is matched when the thing an action names does not exist (any more).
	ErrNotFound = errors.New("no such thing on this machine")
	// ErrStale is matched when somebody else changed what the action was based
	// on. Read again, decide again, and retry within the caller's deadline.
	ErrStale = errors.New("changed by somebody else meanwhile")
	// ErrExists is matched when what the action would create is already there.
	ErrExists = errors.New("already there")
	// ErrClosed is matched by every use of a platform after it was closed.
	ErrClosed = errors.New("the platform is closed")
)

// UnsupportedError is a refusal with its reason. It matches [ErrUnsupported].
type UnsupportedError struct {
	Feature Feature
	Reason  Reason
}

// Error names the feature and the reason.
func (e *UnsupportedError) Error() string {
	return e.Feature.words() + " is " + ErrUnsupported.Error() + " (" + string(e.Reason) + ")"
}

// Is makes errors.Is(err, ErrUnsupported) true.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Unsupported returns the refusal of one feature. An empty reason becomes
// [ReasonNoPlatform], so that a refusal always says something.
func Unsupported(feature Feature, why Reason) error {
	if why == "" {
		why = ReasonNoPlatform
	}
	return &UnsupportedError{Feature: feature, Reason: why}
}

// ActionError says which action on which thing failed. It unwraps to the cause,
// so that errors.Is finds the sentinels above.
type ActionError struct {
	Action  Feature
	Subject string // interface, bridge, unit or service that the action was about
	Err     error
}

// Error reads "bridge membership of en2: changed by somebody else meanwhile".
func (e *ActionError) Error() string {
	return e.Action.words() + " of " + e.Subject + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *ActionError) Unwrap() error { return e.Err }

// Acted is what became of an action on a thing: nil, or an [ActionError].
func Acted(action Feature, subject string, err error) error {
	if err == nil {
		return nil
	}
	return &ActionError{Action: action, Subject: subject, Err: err}
}

// ErrnoSuffix is what the system says of an error, in its own words after a colon; empty where
// it was not the system. What else an error says is for the log.
func ErrnoSuffix(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return ": " + errno.Error()
	}
	return ""
}
