package unitrecord

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"

	"fulmen/native"
)

// Attach connects to the socket of a unit. [native.ErrNotFound] when the label
// has no record or nothing listens there.
func (s Store) Attach(ctx context.Context, l string) (net.Conn, error) {
	r, err := s.Get(l)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", r.Socket)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errors.Join(native.ErrNotFound, err)
	}
	return conn, err
}
