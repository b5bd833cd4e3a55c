package gate

import (
	"context"
	"net"

	"fulmen/daemon/api"
)

// Reader is the proof that a person may read models here. Their node vouches for who they
// are, as for whoever submits a job, and this node's map says whose models those are.
type Reader struct {
	node api.NodeID
	by   api.Principal
}

// Node is the caller.
func (r Reader) Node() api.NodeID { return r.node }

// By is the person.
func (r Reader) By() api.Principal { return r.by }

// ReaderRoute is a route of people who read models.
type ReaderRoute struct{ row *Row }

// HandleReader makes the handler of a route of people who read models.
func HandleReader(d ReaderRoute, h func(context.Context, Reader, api.PeerModelsParams) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p api.PeerModelsParams) (proof[Reader], error) {
		return g.reader(from, p.By, "")
	}, h)
}

// ReaderStream is a connection of people who read models.
type ReaderStream struct{ row *Row }

// ServeReader makes the handler of a connection of people who read models; see
// [provenStream].
func ServeReader(d ReaderStream, h func(ctx context.Context, r Reader, refused error, first api.PeerConn, conn net.Conn)) StreamHandler {
	return provenStream(d.row, func(g *Gate, from api.NodeID, first api.PeerConn) (proof[Reader], error) {
		switch {
		case first.Model != nil && d == Model:
			return g.reader(from, first.Model.By, first.Model.Model.Model)
		case first.Copy != nil && d == ModelCopy:
			return g.reader(from, first.Copy.By, first.Copy.Model.Model)
		}
		return proof[Reader]{}, api.NewError(api.ReasonMissingField, "model")
	}, h)
}

func (g *Gate) reader(from api.NodeID, by api.Principal, model string) (proof[Reader], error) {
	found := proof[Reader]{by: by, of: by, subject: model, why: WhoReader}
	switch {
	case by.Node != from:
		return found, api.Errorf(api.ReasonPeerNotAllowed, by.String(), "%s does not vouch for %s.", from.Display(), by)
	case !by.Valid():
		return found, api.NewError(api.ReasonPeerNotAllowed, by.String())
	}
	if reason := g.cfg.Reads(by); reason != "" {
		return found, api.NewError(reason, by.String())
	}
	found.value = Reader{from, by}
	return found, nil
}
