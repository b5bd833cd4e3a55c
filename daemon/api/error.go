package api

import (
	"context"
	"errors"
	"fmt"
)

// Error is a refusal or failure as every surface carries it: the group for
// programs, one sentence for a person, and what both can act on.
type Error struct {
	// Code is the group.
	Code Code `json:"code"`
	// Message is one sentence for a person, complete by itself.
	Message string `json:"message"`
	// Data is what can be acted on.
	Data ErrorData `json:"data"`
}

// ErrorData is the machine-readable part of an Error.
type ErrorData struct {
	// Reason is the stable key of what went wrong.
	Reason Reason `json:"reason"`
	// Subject is the id, field or name that it is about.
	Subject string `json:"subject,omitempty"`
	// WaitingFor says, where a wait ended, for what and on whom.
	WaitingFor string `json:"waiting_for,omitempty"`
	// Remedy is what a person can do about it.
	Remedy string `json:"remedy,omitempty"`
	// Causes are the single faults behind it, the first one first.
	Causes []Cause `json:"causes,omitempty"`
}

// Cause is one fault among several, such as one link of many that are too slow.
type Cause struct {
	// Reason is the stable key of the fault.
	Reason Reason `json:"reason"`
	// Message is one sentence for a person.
	Message string `json:"message"`
	// Subject is the id, field or name that it is about.
	Subject string `json:"subject,omitempty"`
	// Remedy is what a person can do about it.
	Remedy string `json:"remedy,omitempty"`
}

// NewError makes an error from its reason: code, message and remedy are the
// table's, the subject is named in the message where there is one.
func NewError(reason Reason, subject string) *Error {
	info, ok := LookupReason(reason)
	if !ok || info.Code == 0 {
		info.Code = CodeInternal
	}
	message := info.Text
	if message == "" {
		message = string(reason)
	}
	if subject != "" {
		message = subject + ": " + message
	}
	return &Error{Code: info.Code, Message: message, Data: ErrorData{Reason: reason, Subject: subject, Remedy: info.Remedy}}
}

// Errorf makes an error with a message of its own; code and remedy are the table's.
func Errorf(reason Reason, subject, format string, args ...any) *Error {
	e := NewError(reason, subject)
	e.Message = fmt.Sprintf(format, args...)
	return e
}

// BadValue refuses a field, with a message that says what to write.
func BadValue(field, format string, args ...any) error {
	return Errorf(ReasonBadValue, field, format, args...).WithRemedy("")
}

// Error is the message for people, with the remedy where there is one.
func (e *Error) Error() string {
	if e.Data.Remedy == "" {
		return e.Message
	}
	return e.Message + " (" + e.Data.Remedy + ")"
}

// Is matches a Code or a Reason, also one among the causes.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case Reason:
		if e.Data.Reason == t {
			return true
		}
		for _, c := range e.Data.Causes {
			if c.Reason == t {
				return true
			}
		}
	}
	return false
}

// Cause is the error as one of another error's causes; its own causes are dropped.
func (e *Error) Cause() Cause {
	return Cause{Reason: e.Data.Reason, Message: e.Message, Subject: e.Data.Subject, Remedy: e.Data.Remedy}
}

// WithRemedy says what to do about it, in place of the reason's own remedy.
func (e *Error) WithRemedy(remedy string) *Error {
	e.Data.Remedy = remedy
	return e
}

// WithWait says on what, or whom, it waited.
func (e *Error) WithWait(what string) *Error {
	e.Data.WaitingFor = what
	return e
}

// From keeps what brought the error about in its chain, for the log.
func (e *Error) From(err error) error { return fmt.Errorf("%w [%w]", e, err) }

// AsError finds the Error in a chain. The end of a context's time is ReasonDeadline or
// ReasonCancelled; any other error becomes CodeInternal with a fixed message, so that
// nothing private leaves with its text: the caller logs the original. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return NewError(ReasonDeadline, "")
	case errors.Is(err, context.Canceled):
		return NewError(ReasonCancelled, "")
	}
	return NewError(ReasonInternal, "")
}
