package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import "errors"

// What an *Error wraps, for errors.Is.
var (
	// ErrMLX is everything that MLX itself refuses or that fails inside it.
	ErrMLX = errors.New("mlx error")
	// ErrShape is a shape, or a count of data, that cannot be.
	ErrShape = errors.New("invalid shape")
	// ErrDtype is a dtype that is not one, or that the operation does not have.
	ErrDtype = errors.New("invalid dtype")
	// ErrMemory is an array larger than the device or the memory limit allows.
	ErrMemory = errors.New("too large")
	// ErrArgument is another argument outside its range.
	ErrArgument = errors.New("invalid argument")
	// ErrUnsupported is what this build of MLX or this machine cannot do.
	ErrUnsupported = errors.New("unsupported")
	// ErrClosed is the use of an array, scope or group after its end.
	ErrClosed = errors.New("closed")
)

// Error is a failed operation.
type Error struct {
	// Op is the operation, in MLX's spelling: "matmul".
	Op string
	// Message says what was wrong, for a person. MLX's own words for ErrMLX.
	Message string

	kind error
}

// Error is "op: message".
func (e *Error) Error() string { return "mlx " + e.Op + ": " + e.Message }

// Unwrap is one of this package's Err values.
func (e *Error) Unwrap() error { return e.kind }

// closed is the use of something that has ended.
func closed(op, what string) error {
	return &Error{Op: op, Message: what + " is closed", kind: ErrClosed}
}

// failure makes the error of a call that returned status, and frees its text.
// It is kept out of the operations' path, which has no error to carry.
//
//go:noinline
func failure(op string, status C.int, text *C.char) error {
	message := "out of memory while reporting an error"
	if text != nil {
		message = C.GoString(text)
		C.fmlx_error_free(text)
	}
	kind := ErrMLX
	switch status {
	case C.FMLX_ERR_SHAPE:
		kind = ErrShape
	case C.FMLX_ERR_DTYPE:
		kind = ErrDtype
	case C.FMLX_ERR_MEMORY:
		kind = ErrMemory
	case C.FMLX_ERR_ARGUMENT:
		kind = ErrArgument
	case C.FMLX_ERR_UNSUPPORTED:
		kind = ErrUnsupported
	}
	return &Error{Op: op, Message: message, kind: kind}
}
