package peer_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
)

// Both nodes, this one and another, are called alike: arguments and answers are
// encoded on the way, and errors are the API's.
func TestSelfIsLikeOthers(t *testing.T) {
	is := is.New(t)
	desk := peertest.NewDesk()
	a := peer.New("aaaa", desk.Add("aaaa"))
	b := peer.New("bbbb", desk.Add("bbbb"))
	for _, p := range []*peer.Peers{a, b} {
		p.HandleCall("peer.end", func(_ context.Context, from api.NodeID, raw json.RawMessage) (any, error) {
			var params api.PeerEndParams
			if err := json.Unmarshal(raw, &params); err != nil {
				return nil, err
			}
			if params.Epoch == 0 {
				return nil, errors.New("secret of the inside")
			}
			params.Attempt++
			params.Job = api.JobID("j" + string(from) + string(from))
			return params, nil
		})
		p.HandleStream(api.ConnOutput, func(_ context.Context, from api.NodeID, first api.PeerConn, c net.Conn) {
			io.WriteString(c, string(from))
		})
	}
	for _, to := range []api.NodeID{"aaaa", "bbbb"} {
		var result api.PeerEndParams
		is.NoErr(a.Call(t.Context(), to, "peer.end", api.PeerEndParams{Job: "jaaaaaaaa", Epoch: 1, Attempt: 4}, &result))
		is.Equal(result.Attempt, 5)
		err := a.Call(t.Context(), to, "peer.end", api.PeerEndParams{Job: "jaaaaaaaa"}, nil)
		var known *api.Error
		is.True(errors.As(err, &known))
		is.Equal(known.Data.Reason, api.ReasonInternal)
		is.True(errors.Is(a.Call(t.Context(), to, "peer.start", nil, nil), api.ReasonUnknownMethod))
		conn, err := a.Stream(t.Context(), to, api.PeerConn{Carries: api.ConnOutput})
		is.NoErr(err)
		text, err := io.ReadAll(conn)
		is.NoErr(err)
		is.Equal(string(text), "aaaa")
		_, err = a.Stream(t.Context(), to, api.PeerConn{Carries: api.ConnFiles})
		is.True(errors.Is(err, api.ReasonUnknownMethod))
	}
}
