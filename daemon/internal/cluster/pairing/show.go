package pairing

import (
	"context"

	"fulmen/daemon/internal/cluster/cpace"
)

// Show takes the part of the Mac that shows the code or made the invitation,
// whoever has dialled, and tells Macs that only ask who it is. It does not close the
// connection. The errors are those of Enter; a failed proof is in the book.
func Show(ctx context.Context, conn Conn, book *Book, side Side) (out Outcome, err error) {
	defer recovered(conn, &err)
	if err := side.check(conn); err != nil {
		return Outcome{}, err
	}
	l, done := open(ctx, conn, side.Clock)
	defer done()
	if err := l.greet(false); err != nil {
		return Outcome{}, err
	}
	first, err := l.receive("the other Mac to begin", "start", "ask")
	if err != nil {
		return Outcome{}, err
	}
	if first.Ask != nil {
		return side.answer(l, book)
	}
	if err := showSecret(l, *first.Start, book, side); err != nil {
		return Outcome{}, err
	}
	m, err := l.receive("the other Mac's card", "card")
	if err != nil {
		return Outcome{}, err
	}
	if err := l.send(message{Card: &side.Card}); err != nil {
		return Outcome{}, err
	}
	return side.settle(l, *m.Card, first.Start.Wants == WantsJoin)
}

// showSecret is the responder's part of the proof. The other side shows first
// that it knows the secret, so that it gets nothing for a guess but the answer.
func showSecret(l *line, begin start, book *Book, side Side) error {
	proof, err := book.begin(begin.With, begin.Invite, l.conn)
	if err != nil {
		return l.refuse(err, 0)
	}
	defer proof.end()
	run, err := cpace.New(cpace.Responder, input(proof.secret(), l.conn, side.Key, cpace.Responder))
	if err != nil {
		return err
	}
	result, err := finish(run, begin.share, l.conn)
	if err != nil {
		return l.refuse(err, 0) // no guess could be tested with it
	}
	proof.share()
	m, err := l.ask(message{Share: &share{Share: run.Message().Share, Key: side.Key}}, "the other Mac to prove the code", "confirm")
	if err != nil {
		return err
	}
	if _, err := result.Check(m.Confirm.Tag); err != nil {
		err, left := proof.fail()
		return l.refuse(err, left)
	}
	if err := proof.succeed(); err != nil {
		return l.refuse(err, 0)
	}
	l.prove()
	return l.send(message{Confirm: &confirm{Tag: result.Confirm()}})
}
