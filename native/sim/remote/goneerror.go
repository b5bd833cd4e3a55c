package remote

import "fulmen/native"

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
