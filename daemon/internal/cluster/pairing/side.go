package pairing

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/cpace"
	"fulmen/native"
)

// Side is what this Mac brings to a pairing.
type Side struct {
	// Key is the public key that it has shown in TLS.
	Key ed25519.PublicKey
	// Card is what it says of itself.
	Card Card
	// Clock measures the deadlines.
	Clock native.Clock
	// Admit makes the other Mac a member, saves that, and gives the whole log of
	// the roster. For one that is a member already it gives the log with an error
	// of the reason already_member.
	Admit func(context.Context, Peer) ([]cluster.SignedEntry, error)
	// Adopt takes over the roster of the other Mac, checked to be of the cluster
	// that it named and to have both Macs as members, and saves it.
	Adopt func(context.Context, *cluster.Roster, Peer) error
}

// Peer is the other Mac, proved.
type Peer struct {
	// Node is its id, PublicKey the key that makes it.
	Node      api.NodeID
	PublicKey ed25519.PublicKey
	// Card is what it says of itself.
	Card Card
}

// Outcome is a pairing that was done.
type Outcome struct {
	// Peer is the other Mac; zero where one has only asked.
	Peer Peer
	// HasJoined says that this Mac has joined the other's cluster; else the other
	// one was admitted to this one's.
	HasJoined bool
	// AlreadyMember says that whoever joined was a member before.
	AlreadyMember bool
	// Doubt says why this Mac, which has admitted the other one, does not know
	// whether that one has heard of it. It is a member all the same, and with the
	// same code it can try again.
	Doubt error
	// WasAsked says that no code was proved: the other Mac has asked who this one
	// is, and was told.
	WasAsked bool
}

// input is what both sides of CPace must have alike. Node ids have one length, so
// that the channel can be read in one way only.
func input(s Secret, conn Conn, own ed25519.PublicKey, role cpace.Role) cpace.Input {
	initiator, responder := api.NodeIDFromKey(own), conn.Peer()
	if role == cpace.Responder {
		initiator, responder = responder, initiator
	}
	return cpace.Input{
		Code:    []byte(s.reveal()),
		Channel: fmt.Appendf(nil, "fulmen-pair-%d %s initiator %s responder %s", ProtocolVersion, s.kind(), initiator, responder),
		Session: conn.Session,
		Data:    own,
	}
}

// check refuses a connection that cannot be paired over.
func (s *Side) check(conn Conn) error {
	switch {
	case len(s.Key) != ed25519.PublicKeySize || len(conn.PeerKey) != ed25519.PublicKeySize || len(conn.Session) != sessionSize:
		return api.NewError(api.ReasonInternal, "pairing")
	case s.Key.Equal(conn.PeerKey):
		return api.NewError(api.ReasonDuplicateIdentity, conn.Peer().Display())
	}
	s.Card = s.Card.clean()
	return nil
}

// settle does what was proved to be wanted, after both cards are known.
func (s *Side) settle(l *line, peer Card, admits bool) (Outcome, error) {
	other := Peer{Node: l.conn.Peer(), PublicKey: l.conn.PeerKey, Card: peer}
	joiner, admitter := s.Card, peer
	if admits {
		joiner, admitter = peer, s.Card
	}
	if reason := mayJoin(joiner, admitter); reason != "" { // the other side finds the same
		return Outcome{}, api.NewError(reason, "")
	}
	if admits {
		return s.admit(l, other)
	}
	return s.join(l, other)
}

func (s *Side) admit(l *line, peer Peer) (Outcome, error) {
	log, err := s.Admit(l.ctx, peer)
	isOld := errors.Is(err, api.ReasonAlreadyMember)
	if err != nil && !isOld {
		return Outcome{}, l.refuse(err, 0)
	}
	done := Outcome{Peer: peer, AlreadyMember: isOld}
	_, done.Doubt = l.ask(message{Roster: &rosterLog{Log: log, AlreadyMember: isOld}}, "the other Mac to take over the roster", "ack")
	return done, nil
}

func (s *Side) join(l *line, peer Peer) (Outcome, error) {
	m, err := l.receive("the other Mac to add this one to its roster", "roster")
	if err != nil {
		return Outcome{}, err
	}
	roster, err := cluster.ReadRoster(m.Roster.Log)
	if err == nil {
		err = s.fits(roster, peer)
	}
	if err == nil {
		err = s.Adopt(l.ctx, roster, peer)
	}
	if err != nil {
		return Outcome{}, l.refuse(err, 0)
	}
	// Whether the other side hears of it changes nothing here.
	_ = l.send(message{Ack: &empty{}})
	return Outcome{Peer: peer, HasJoined: true, AlreadyMember: m.Roster.AlreadyMember}, nil
}

// fits refuses a roster that is not what the other side has promised.
func (s *Side) fits(r *cluster.Roster, peer Peer) error {
	switch {
	case r.Cluster() != peer.Card.Cluster:
		return api.Errorf(api.ReasonRosterConflict, peer.Node.Display(), "The other Mac sent the roster of a different cluster than it had named.")
	case !r.IsMember(peer.Node):
		return api.Errorf(api.ReasonRosterConflict, peer.Node.Display(), "According to its own roster, the other Mac is not a member itself.")
	case !r.IsMember(api.NodeIDFromKey(s.Key)):
		return api.Errorf(api.ReasonRosterConflict, peer.Node.Display(), "The other Mac sent a roster without this Mac.")
	}
	return nil
}

// recovered makes a panic an error of this exchange alone. Its text does not go
// to the other side.
func recovered(conn Conn, err *error) {
	if p := recover(); p != nil {
		conn.SetDeadline(time.Unix(1, 0)) // nothing more is said
		*err = errors.Join(api.NewError(api.ReasonInternal, "pairing"), fmt.Errorf("panic: %v", p))
	}
}
