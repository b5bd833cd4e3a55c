package pairing

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
)

func TestOneCodeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, m, _ := macs(t)
		changes := 0
		m.book = NewBook(m.clock, func() { changes++ })
		is.Equal(m.book.Standing(), Standing{})
		is.True(!m.book.IsListening())
		code, until := m.book.Open()
		again, still := m.book.Open()
		is.Equal(code.reveal(), again.reveal())
		is.Equal(until, still)
		is.Equal(changes, 1)
		time.Sleep(api.CodeTTL - time.Nanosecond)
		is.Equal(m.book.Standing().Reason, api.Reason(""))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(changes, 2) // the screen hears that it is over
		is.Equal(m.book.Standing().Reason, api.ReasonCodeExpired)
		is.True(m.book.IsListening()) // to say so
		time.Sleep(explainFor)
		is.True(!m.book.IsListening())
		next, _ := m.book.Open()
		is.True(next.reveal() != code.reveal())
		is.True(m.book.IsListening())
		m.book.Close()
		is.Equal(changes, 4)
		m.book.Close()
		is.True(!m.book.IsListening())
		time.Sleep(api.CodeTTL + explainFor)
		synctest.Wait()
		is.Equal(changes, 4) // nothing of it ends any more
		m.book.Open()
		for range api.MaxCodeTries {
			p, err := m.book.begin(kindCode, "", Conn{PeerKey: m.Public()})
			is.NoErr(err)
			p.share()
			p.end()
		}
		time.Sleep(time.Second)
		changes = 0
		m.book.Open() // in place of one that is used up
		time.Sleep(api.CodeTTL - time.Nanosecond)
		synctest.Wait()
		is.Equal(changes, 1)
	})
}

func TestInvitationsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, m, other := macs(t)
		invited := func() int {
			m.book.mu.Lock()
			defer m.book.mu.Unlock()
			return len(m.book.invites)
		}
		for range MaxInvitations {
			_, _, err := m.book.Invite(m.Public(), nil, 7732, time.Minute)
			is.NoErr(err)
		}
		_, _, err := m.book.Invite(m.Public(), nil, 7732, time.Minute)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonPairingBusy)
		is.Equal(api.AsError(err).Data.Remedy, "Use one of them, or wait until they have expired.")
		_, _, err = other.book.Invite(other.Public(), nil, 0, time.Minute)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)
		is.True(m.book.IsListening())
		time.Sleep(time.Minute + explainFor - time.Nanosecond)
		synctest.Wait()
		is.True(m.book.IsListening()) // who comes too late is told why
		is.Equal(invited(), MaxInvitations)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.True(!m.book.IsListening())
		is.Equal(invited(), 0)
		_, _, err = m.book.Invite(m.Public(), nil, 7732, time.Minute)
		is.NoErr(err)
	})
}

// However many try at once, no more than MaxCodeTries have a guess.
func TestConcurrentGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, _ := macs(t)
		code, _ := shower.book.Open()
		guess := wrong(t, code)
		var tested, running, most atomic.Int32
		var all sync.WaitGroup
		for n := range byte(40) {
			all.Go(func() {
				conn := Conn{PeerKey: newMac(t, 100+n, shower.clock).Public()}
				for {
					p, err := shower.book.begin(kindCode, guess.id(), conn)
					if errors.Is(err, api.ReasonPairingBusy) {
						runtime.Gosched()
						continue
					}
					if err != nil {
						return // used up
					}
					most.Store(max(most.Load(), running.Add(1)))
					p.share()
					tested.Add(1)
					running.Add(-1)
					p.end()
					p.end()
				}
			})
		}
		all.Wait()
		is.Equal(tested.Load(), int32(api.MaxCodeTries))
		is.Equal(most.Load(), int32(1))
		is.Equal(shower.book.Standing().TriesLeft, 0)
	})
}

// A proof that is done when the code's time is over does not count.
func TestCodeExpiresDuringTheProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		shower.book.Open()
		time.Sleep(api.CodeTTL - time.Second)
		p, err := shower.book.begin(kindCode, "", Conn{PeerKey: typer.Public()})
		is.NoErr(err)
		p.share()
		shower.clock.sleep(time.Second)
		is.True(errors.Is(p.succeed(), api.ReasonCodeExpired))
		is.Equal(shower.book.Standing().UsedBy, api.NodeID(""))
		is.Equal(len(shower.book.Standing().Tries), 0) // it was right
	})
}
