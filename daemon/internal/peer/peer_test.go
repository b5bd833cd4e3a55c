package peer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
)

// reported is what the tests send.
type reported struct {
	N    int
	From string
}

// Both nodes, this one and another, are called alike: arguments and answers are
// encoded on the way, and errors are the API's.
func TestSelfIsLikeOthers(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	a := peer.New("aaaa", network.Add("aaaa"), peertest.GateFor("aaaa", nil, nil))
	b := peer.New("bbbb", network.Add("bbbb"), peertest.GateFor("bbbb", nil, nil))
	for _, p := range []*peer.Peers{a, b} {
		p.HandleCall(gate.HandleMember(gate.Profile, func(_ context.Context, from gate.Member, params reported) (any, error) {
			if params.N == 0 {
				return nil, errors.New("secret of the inside")
			}
			return reported{params.N + 1, string(from.Node())}, nil
		}))
		p.HandleStream(gate.ServeMember(gate.Stream, func(_ context.Context, from gate.Member, first api.PeerConn, c net.Conn) {
			io.WriteString(c, string(from.Node()))
		}))
	}
	for _, to := range []api.NodeID{"aaaa", "bbbb"} {
		var result reported
		is.NoErr(a.Call(t.Context(), to, "peer.profile", reported{N: 4}, &result))
		is.Equal(result, reported{5, "aaaa"})
		err := a.Call(t.Context(), to, "peer.profile", reported{}, nil)
		var known *api.Error
		is.True(errors.As(err, &known))
		is.Equal(known.Data.Reason, api.ReasonInternal)
		is.True(errors.Is(a.Call(t.Context(), to, "peer.start", nil, nil), api.ReasonUnknownMethod))
		conn, err := a.Stream(t.Context(), to, api.PeerConn{Carries: api.ConnStream})
		is.NoErr(err)
		text, err := io.ReadAll(conn)
		is.NoErr(err)
		is.Equal(string(text), "aaaa")
		_, err = a.Stream(t.Context(), to, api.PeerConn{Carries: api.ConnFiles})
		is.True(errors.Is(err, api.ReasonUnknownMethod))
	}
}
