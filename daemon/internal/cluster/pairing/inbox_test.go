package pairing

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func at(d time.Duration) Moment {
	return Moment{Boot: d, Wall: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC).Add(d)}
}

// asking is a Mac that shows a fresh code.
func asking(n int) Asking {
	key := make(ed25519.PublicKey, ed25519.PublicKeySize)
	binary.BigEndian.PutUint32(key, uint32(n))
	return Asking{Node: api.NodeIDFromKey(key), Interface: "en0", Address: netip.MustParseAddrPort("10.0.0.7:7732"),
		Claim: Claim{Name: "Ada's Mac", ValidMS: api.CodeTTL.Milliseconds(), TriesLeft: 3}}
}

func TestInboxEntry(t *testing.T) {
	is := is.New(t)
	b := NewInbox()
	_, ok := b.Next()
	is.True(!ok)
	is.True(b.Receive(at(0), asking(1)))
	is.Equal(b.List(), []api.Pending{{
		Peer: asking(1).Node, Name: "Ada's Mac", Address: netip.MustParseAddrPort("10.0.0.7:7732"), Interface: "en0",
		State: api.PendingAsking, Since: api.TimeOf(at(0).Wall), ExpiresAt: api.TimeOf(at(api.CodeTTL).Wall), TriesLeft: 3,
	}})
	is.True(!b.Receive(at(InboxRefresh-1), asking(1))) // a Mac that repeats itself changes nothing
	later := asking(1)
	later.TriesLeft = 2
	is.True(b.Receive(at(InboxRefresh), later))
	is.Equal(b.List()[0].TriesLeft, 2)
	is.Equal(b.List()[0].Since, api.TimeOf(at(0).Wall))
	end, _ := b.Next()
	is.Equal(end, InboxRefresh+api.CodeTTL)
	is.Equal(len(b.Expire(at(end-1))), 0)
	is.Equal(b.Expire(at(end)), []api.NodeID{asking(1).Node})
	is.Equal(len(b.List()), 0)
	is.True(b.Receive(at(end), asking(1)))
	is.True(errors.Is(b.Set(at(end+api.CodeTTL), asking(1).Node, api.PendingLater), api.ReasonNoSuchNode)) // its time is over
	is.Equal(b.Expire(at(end+api.CodeTTL)), []api.NodeID{asking(1).Node})
}

func TestInboxStates(t *testing.T) {
	for state, lives := range map[api.PendingState]time.Duration{
		api.PendingAsking:  api.CodeTTL,
		api.PendingProving: api.CodeTTL + ExchangeDeadline,
		api.PendingLater:   InboxMemory,
		api.PendingIgnored: InboxMemory,
	} {
		t.Run(string(state), func(t *testing.T) {
			is := is.New(t)
			b := NewInbox()
			b.Receive(at(0), asking(1))
			is.NoErr(b.Set(at(1), asking(1).Node, state))
			b.Receive(at(time.Minute), asking(1)) // asks on, and stays what a person made of it
			is.Equal(b.List()[0].State, state)
			end, _ := b.Next()
			is.Equal(end, time.Minute+lives)
			is.True(errors.Is(b.Set(at(1), asking(1).Node, "friend"), api.ReasonBadValue))
			b.Remove(asking(1).Node)
			is.Equal(len(b.List()), 0)
		})
	}
}

func TestInboxIsNotFlooded(t *testing.T) {
	is := is.New(t)
	b := NewInbox()
	n := 0
	for now := time.Duration(0); now < time.Hour; now += time.Second { // a new one each second
		n++
		b.Receive(at(now), asking(n))
		is.True(len(b.List()) <= int(api.CodeTTL/InboxGap))
	}
	is.Equal(len(b.List()), 5)

	b = NewInbox()
	for n := range 2 * MaxInbox { // a person ignores each
		now := at(time.Duration(n) * InboxGap)
		is.True(b.Receive(now, asking(n)))
		is.NoErr(b.Set(now, asking(n).Node, api.PendingIgnored))
		is.Equal(len(b.List()), min(n+1, MaxInbox))
	}
	is.Equal(b.List()[0].Peer, asking(MaxInbox).Node) // the oldest gave way
	for _, e := range b.List() {
		is.NoErr(b.Set(at(2*MaxInbox*InboxGap), e.Peer, api.PendingLater))
	}
	is.True(!b.Receive(at(2*MaxInbox*InboxGap), asking(1000))) // what a person put off does not give way
}
