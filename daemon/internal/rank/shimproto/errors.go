package shimproto

import (
	"errors"
	"fmt"
)

var (
	// ErrTooLong is matched when a line or file is longer than allowed. The
	// rest of the stream cannot be trusted after it.
	ErrTooLong = errors.New("too long")
	// ErrVersion is matched when the two sides have no version in common.
	ErrVersion = errors.New("no protocol version in common")
)

// FieldError says which field is wrong and how. Field is the path in the
// message ("usage.user_s", "logs[1].stream"), or "" for the whole of it.
type FieldError struct {
	Field   string
	Problem string
}

// Error reads "field epoch: missing".
func (e *FieldError) Error() string {
	if e.Field == "" {
		return "message: " + e.Problem
	}
	return "field " + e.Field + ": " + e.Problem
}

func badField(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// within puts a prefix before the field of a [FieldError].
func within(prefix string, err error) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &FieldError{Field: joinPath(prefix, field.Field), Problem: field.Problem}
}

// UnknownTypeError is a message of a type that this version does not know. The
// stream is intact: a shim refuses the request, a daemon goes on.
type UnknownTypeError struct {
	Type string
}

// Error names the type.
func (e *UnknownTypeError) Error() string { return fmt.Sprintf("unknown message type %.40q", e.Type) }
