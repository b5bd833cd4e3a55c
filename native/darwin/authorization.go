package darwin

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// formLength is kAuthorizationExternalFormLength, in bytes (Authorization.h).
const formLength = 32

// rightLasts is how long after an administrator was authenticated their
// authorization gives a right.
const rightLasts = 5 * time.Minute

// ErrNoForm is the error of bytes that cannot be an AuthorizationExternalForm.
var ErrNoForm = errors.New("an authorization is 32 bytes long")

// ErrNotAuthorized is the error of an authorization that does not give the right, no
// more, or is none.
var ErrNotAuthorized = errors.New("the authorization does not give the right")

// Right is a right of Authorization Services that this process, as root, demands of
// others.
type Right struct {
	name    string
	system  authorizations
	turn    chan struct{} // has room for who speaks with the system: clients wait here, and not on threads
	defined bool          // has who has the turn
}

// authorizations are what C asks of Authorization Services.
type authorizations interface {
	defineRight(name string, lasts time.Duration) error
	checkRight(name string, form [formLength]byte) error
}

// NewRight is the right of a name.
func NewRight(name string) *Right { return newRight(name, systemAuthorizations()) }

func newRight(name string, system authorizations) *Right {
	return &Right{name: name, system: system, turn: make(chan struct{}, 1)}
}

// Define writes what the right takes into the system's database, once: an
// administrator who was authenticated for it in the last five minutes. Whatever is
// there under its name is replaced, since anybody may have put it there.
func (r *Right) Define(ctx context.Context) error {
	return r.do(ctx, func() error { return nil })
}

// Check is nil where the authorization of an AuthorizationExternalForm gives the
// right; nobody is asked. A right that could not be defined is given to nobody.
// Anything may be shown: ErrNoForm and ErrNotAuthorized are the client's fault.
func (r *Right) Check(ctx context.Context, shown []byte) error {
	if len(shown) != formLength {
		return ErrNoForm
	}
	return r.do(ctx, func() error { return r.system.checkRight(r.name, [formLength]byte(shown)) })
}

// do calls with the right defined, one at a time.
func (r *Right) do(ctx context.Context, call func() error) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.turn }()
	if !r.defined {
		if err := r.system.defineRight(r.name, rightLasts); err != nil {
			return fmt.Errorf("the right %s could not be defined: %w", r.name, err)
		}
		r.defined = true
	}
	return call()
}
