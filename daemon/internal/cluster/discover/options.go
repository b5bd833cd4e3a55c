package discover

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Options is what a finder is made with.
type Options struct {
	// Self is this node, Port where its transport listens.
	Self api.NodeID
	Port int
	// Discovery and Clock are the platform's.
	Discovery native.Discovery
	Clock     native.Clock
	// Store keeps on which networks members were met.
	Store Store
	// Resolve looks up a host's addresses; nil = the system's resolver. It must
	// end when its context does.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Changed is told of changes, one at a time; it must return soon, and may ask
	// the finder. It is not called after Close.
	Changed func(Change)
	// Denied is told that the system does not let this node search, and in which words;
	// "" = it does again. It must return soon.
	Denied func(detail string)
	Log    *slog.Logger
}

func (o *Options) complete() error {
	switch {
	case o.Self == "" || o.Port < 1 || o.Port > 65535:
		return errors.New("discovery needs this node's id and port")
	case o.Discovery == nil || o.Clock == nil:
		return errors.New("discovery needs a platform")
	}
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return nil
}

// randomID is random, in Crockford's digits.
func randomID(length int) string {
	random := make([]byte, length)
	_, _ = rand.Read(random) // it never fails
	return api.Base32().EncodeToString(random)[:length]
}
