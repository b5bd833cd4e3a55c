package loopback

import (
	"context"
	"net/netip"
)

// State is what became of a connection's path.
type State string

// The states. A path that is cut can become whole again; a dead one cannot.
const (
	// Whole paths carry what is sent.
	Whole State = "whole"
	// Cut paths hold it back.
	Cut State = "cut"
	// Dead paths were cut for so long that their connections are broken.
	Dead State = "dead"
)

// Exchange keeps who listens where on a simulated desk, as seen by one Mac. Its
// errors are the system's own (syscall.ECONNREFUSED) where a kernel would give
// one. The functions changed are called in order, must return at once and must
// not call the exchange.
type Exchange interface {
	// Open notes that connections to an address (invalid: all) of an interface
	// (empty: of any) are taken at an address of loopback. Port 0 is any that is
	// free.
	Open(ctx context.Context, iface string, at, taken netip.AddrPort) (Door, error)
	// Connect finds who answers an address from an interface (empty: from any) and
	// from a source (invalid: any). Where nobody can be reached it waits until
	// somebody can, or for the context.
	Connect(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort, changed func(State)) (Flow, error)
	// Answer gives the other end of the connection to which a token belongs; it
	// can be asked for once.
	Answer(ctx context.Context, token string, changed func(State)) (Flow, error)
}

// Door is a port that is open.
type Door struct {
	// Port is its number.
	Port int
	// Close ends it. Closing twice is harmless.
	Close func()
}

// Flow is one end of a connection.
type Flow struct {
	// At is where the other end takes connections on loopback, and Token what it
	// wants to be told first; for an end that dialled.
	At    netip.AddrPort
	Token string
	// Local and Remote are the simulated addresses; link-local ones carry the zone
	// of this end's interface.
	Local, Remote netip.AddrPort
	// Close says that this end is no longer used. Closing twice is harmless.
	Close func()
}

// TokenBytes is the length of a token. It is text.
const TokenBytes = 32
