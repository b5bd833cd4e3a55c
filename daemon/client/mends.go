package client

import (
	"errors"

	"fulmen/daemon/api"
)

// Mends reports whether doing the same again may help after an error: what was
// asked for was right, and the daemon is gone, busy or not ready.
func Mends(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case api.CodeUnreachable, api.CodeDeadline, api.CodeExhausted, api.CodePrecondition, api.CodeInternal:
		return true
	}
	return false
}
