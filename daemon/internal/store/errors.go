package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"syscall"

	bolt "go.etcd.io/bbolt/errors"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
)

// misuse is a fault of the caller, which no person can mend.
func misuse(format string, args ...any) error {
	return fmt.Errorf("%w [store: %s]", api.NewError(api.ReasonInternal, ""), fmt.Sprintf(format, args...))
}

// corrupt is a database that turned out to be damaged while in use. what is for
// people; what a library said of it, or how it broke, is for the log only.
func corrupt(path, what string) error {
	return api.Errorf(api.ReasonStateCorrupt, path, "The database %s is damaged: %s.", path, what).
		WithRemedy("Fulmen restarts by itself, sets the file aside, and says what that means: see `fulmen status`.")
}

// unreadable is what is wrong with a file on which bbolt stumbled.
const unreadable = "a part of it is missing or was overwritten"

// newer is a database that a later version of Fulmen has changed in a way that
// this one cannot read. It is left as it is.
func newer(path string, has int) error {
	return &api.Error{
		Code:    api.CodeUnsupported,
		Message: fmt.Sprintf("The database %s was written by a newer Fulmen: it has version %d, this one knows %d.", path, has, format),
		Data: api.ErrorData{Reason: api.ReasonVersionSkew, Subject: path,
			Remedy: "Install the newer version again, or move the file away to begin a new one."},
	}
}

// explain makes bbolt's errors fit for a person.
func (s *Store) explain(err error, doing string) error {
	switch {
	case errors.Is(err, bolt.ErrMaxSizeReached):
		return fmt.Errorf("%w [%w]", api.Errorf(api.ReasonDiskFull, s.path, "The database %s has reached its limit of %d bytes.", s.path, s.options.MaxBytes).
			WithRemedy("Raise limits.database_bytes, or delete old jobs."), err)
	case errors.Is(err, bolt.ErrInvalid), errors.Is(err, bolt.ErrChecksum), errors.Is(err, bolt.ErrVersionMismatch):
		return s.fail(corrupt(s.path, unreadable))
	}
	return home.Explain(err, doing, s.path)
}

// harmless reports whether the database is as good as before after a commit
// failed with err. After any other failure, of fsync above all, the kernel may
// have dropped what it could not write, and nobody knows what is on the disk.
func harmless(err error) bool {
	return errors.Is(err, bolt.ErrMaxSizeReached) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, syscall.EROFS)
}

// panicked is what came out of bbolt as a panic.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprint(p.value) }

// guard calls into bbolt, f doing nothing else, and makes an error of a panic.
// Reading a mapped file that has been cut short meanwhile is a fault of memory,
// which for the time of the call is a panic too and does not end the process.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &panicked{r}
		}
	}()
	return f()
}
