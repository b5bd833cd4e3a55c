package pairing

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/cpace"
)

// Enter takes the part of the Mac on which the secret of the other one was
// entered, whoever has dialled, and joins that one's cluster or admits it. It
// does not close the connection.
//
// Errors are *api.Error, in a chain: wrong_code (with the tries left),
// code_used_up, code_expired, pairing_not_open, pairing_busy, invite_used,
// invite_expired, confirmation_failed where the other side did not know the
// secret, wrong_identity where it is not who made the invitation,
// member_of_another_cluster, removed, duplicate_identity, roster_conflict,
// protocol_too_old, protocol_too_new, malformed_message, unreachable, deadline,
// cancelled, and what Admit or Adopt give.
func Enter(ctx context.Context, conn Conn, secret Secret, wants Wants, side Side) (out Outcome, err error) {
	defer recovered(conn, &err)
	if err := side.check(conn); err != nil {
		return Outcome{}, err
	}
	switch key := secret.pinned(); {
	case secret.IsZero():
		return Outcome{}, api.NewError(api.ReasonBadValue, "code")
	case key != nil && !key.Equal(conn.PeerKey):
		return Outcome{}, api.NewError(api.ReasonWrongIdentity, conn.Peer().Display())
	case wants == WantsJoin && side.Card.IsMember && !side.Card.Leaves:
		// The other side would say so, too; nobody need know.
		return Outcome{}, api.NewError(api.ReasonMemberOfAnotherCluster, "")
	}
	l, done := open(ctx, conn, side.Clock)
	defer done()
	if err := l.greet(true); err != nil {
		return Outcome{}, err
	}
	if err := enterSecret(l, secret, wants, side); err != nil {
		return Outcome{}, err
	}
	m, err := l.ask(message{Card: &side.Card}, "the other Mac's card", "card")
	if err != nil {
		return Outcome{}, err
	}
	return side.settle(l, *m.Card, wants == WantsAdmit)
}

// enterSecret is the initiator's part of the proof.
func enterSecret(l *line, secret Secret, wants Wants, side Side) error {
	run, err := cpace.New(cpace.Initiator, input(secret, l.conn, side.Key, cpace.Initiator))
	if err != nil {
		return err
	}
	begin := start{With: secret.kind(), Invite: secret.id(), Wants: wants, share: share{Share: run.Message().Share, Key: side.Key}}
	m, err := l.ask(message{Start: &begin}, "the other Mac to begin the proof", "share")
	if err != nil {
		return err
	}
	result, err := finish(run, *m.Share, l.conn)
	if err != nil {
		return l.refuse(err, 0)
	}
	if m, err = l.ask(message{Confirm: &confirm{Tag: result.Confirm()}}, "the other Mac to check the code", "confirm"); err != nil {
		return err
	}
	if _, err := result.Check(m.Confirm.Tag); err != nil {
		return l.refuse(api.NewError(api.ReasonConfirmationFailed, ""), 0)
	}
	l.prove()
	return nil
}

// finish takes the other side's share, if it is from the holder of the key that
// TLS has shown.
func finish(run *cpace.Run, peer share, conn Conn) (*cpace.Result, error) {
	if string(peer.Key) != string(conn.PeerKey) {
		return nil, api.NewError(api.ReasonConfirmationFailed, "")
	}
	result, err := run.Finish(cpace.Message{Share: peer.Share, Data: peer.Key})
	if err != nil {
		return nil, malformed()
	}
	return result, nil
}
