package input_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
)

func TestARepeatedPieceCountsOnce(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `cat; echo over`)
	r.start()
	g := r.open(ada)
	is.Equal(g.next(), peer.Taken{})
	g.give(0, "one ", false)
	g.give(0, "one ", false)
	g.give(2, "e two ", false)
	g.taken(8)
	eventually(t, "the input", func() bool { return r.printed() == "one two " })
	g.give(8, "three", true)
	g.give(8, "three", true)
	for m := peer.Message(nil); m != (peer.Taken{Bytes: 13, Ended: true}); {
		m = g.next()
	}
	<-r.ended
	is.Equal(r.printed(), "one two threeover\n")
}

func TestAGapIsRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `cat`)
	r.start()
	g := r.open(ada)
	is.Equal(g.next(), peer.Taken{})
	g.give(3, "late", false)
	is.Equal(g.next().(peer.Refused).Error.Data.Reason, api.ReasonInputLost)
}

// TestADaemonThatIsReplaced has the daemon go while a program does not read: the
// next one says how far the program is, and nothing is lost or doubled.
func TestADaemonThatIsReplaced(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `trap 'exec cksum' USR1; echo $$ >"$1/pid"; while :; do sleep 0.01; done`)
	r.start()
	input := strings.Repeat("0123456789abcdef", 1<<16) // a mebibyte
	first := r.open(ada)
	is.Equal(first.next(), peer.Taken{})
	go func() {
		for at := 0; at < len(input); at += peer.MaxPiece {
			if first.to.Send(peer.Given{Offset: int64(at), Data: []byte(input[at : at+peer.MaxPiece])}) != nil {
				return
			}
		}
	}()
	first.taken(1)
	is.NoErr(first.conn.Close())
	r.daemon()

	second := r.open(ada)
	at := second.next().(peer.Taken).Bytes
	is.True(at > 0 && at < int64(len(input))) // as much as a pipe holds
	go func() {
		for ; at < int64(len(input)); at += peer.MaxPiece {
			if second.to.Send(peer.Given{Offset: at, Data: []byte(input[at:min(at+peer.MaxPiece, int64(len(input)))])}) != nil {
				return
			}
		}
		_ = second.to.Send(peer.Given{Offset: int64(len(input)), End: true})
	}()
	is.NoErr(syscall.Kill(r.pid(), syscall.SIGUSR1))
	second.taken(int64(len(input)))
	<-r.ended
	is.Equal(r.printed(), "2777416541 1048576\n")
}

func TestTheLastOneGivesTheInput(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `cat`)
	r.start()
	first := r.open(ada)
	first.next()
	first.give(0, "one ", false)
	first.taken(4)
	second := r.open(ada)
	is.Equal(first.next().(peer.Refused).Error.Data.Reason, api.ReasonInputElsewhere)
	is.Equal(second.next(), peer.Taken{Bytes: 4})
	second.give(4, "two", true)
	<-r.ended
	is.Equal(r.printed(), "one two")
}

func TestARankThatHasEndedWantsNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `read line; exit 0`)
	r.start()
	g := r.open(ada)
	g.next()
	g.give(0, "line\n", false)
	g.taken(5)
	for isOver := false; !isOver; { // told, or cut off with the shim: who comes back is told
		m, err := g.from.Next()
		taken, ok := m.(peer.Taken)
		isOver = err != nil || ok && taken.Ended
	}
	<-r.ended
	is.Equal(r.open(ada).next(), peer.Taken{Ended: true}) // also for whoever comes later
}

func TestWhoMayGive(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, "")
	is.Equal(r.open(eve).next().(peer.Refused).Error.Data.Reason, api.ReasonNotYourJob)
	forged := api.Principal{User: "ada", Node: here}
	is.Equal(r.open(forged).next().(peer.Refused).Error.Data.Reason, api.ReasonPeerNotAllowed)
	is.Equal(r.open(ada).next().(peer.Refused).Error.Data.Reason, api.ReasonUnreachable) // it does not run yet
	err := r.giver.Call(t.Context(), here, "peer.resize", api.PeerResizeParams{Rank: rank, By: eve, Rows: 1, Columns: 1}, nil)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonNotYourJob)
}

func TestResizing(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `trap 'stty size; exit 0' WINCH; echo $$ >"$1/pid"; while :; do sleep 0.01; done`)
	r.spec.Terminal = &shimproto.Terminal{Rows: 24, Columns: 80}
	r.start()
	r.pid()
	resize := func(rows int) error {
		return r.giver.Call(t.Context(), here, "peer.resize", api.PeerResizeParams{Rank: rank, By: ada, Rows: rows, Columns: 132}, nil)
	}
	is.Equal(api.AsError(resize(0)).Data.Reason, api.ReasonBadValue)
	is.NoErr(resize(50))
	<-r.ended
	is.Equal(r.printed(), "50 132\r\n")
}
