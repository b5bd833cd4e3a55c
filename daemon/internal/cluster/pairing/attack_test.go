package pairing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/cpace"
	"fulmen/native/nativetest/testkit"
)

// nonMember is the initiator's part by hand, to leave off or lie wherever wanted.
type nonMember struct {
	*line
	mac *mac
	run *cpace.Run
}

func newNonMember(t testing.TB, m *mac, conn Conn) *nonMember {
	t.Helper()
	l, done := open(t.Context(), conn, m.clock)
	t.Cleanup(done)
	return &nonMember{line: l, mac: m}
}

// begin goes as far as the other side's share.
func (s *nonMember) begin(t testing.TB, guess Code) (*cpace.Result, error) {
	t.Helper()
	if err := s.greet(true); err != nil {
		return nil, err
	}
	run, err := cpace.New(cpace.Initiator, input(guess, s.conn, s.mac.Public(), cpace.Initiator))
	if err != nil {
		t.Fatal(err)
	}
	s.run = run
	if err := s.send(message{Start: s.start()}); err != nil {
		return nil, err
	}
	m, err := s.receive("the share", "share")
	if err != nil {
		return nil, err
	}
	return run.Finish(cpace.Message{Share: m.Share.Share, Data: m.Share.Key})
}

func (s *nonMember) start() *start {
	return &start{With: kindCode, Wants: WantsJoin, share: share{Share: s.run.Message().Share, Key: s.mac.Public()}}
}

// Who hangs up once it has what tests a guess has had its guess.
func TestAbandonedProofCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		for left := api.MaxCodeTries - 1; left >= 0; left-- {
			a, b := connect(t, typer, shower)
			x := shower.show(t, b)
			_, err := newNonMember(t, typer, a).begin(t, wrong(t, code))
			is.NoErr(err)
			if left == 1 { // this one says nothing more instead
				began := time.Now()
				is.Equal((<-x).reason(), api.ReasonDeadline)
				is.Equal(time.Since(began), api.PairingDeadline)
			} else {
				a.Close()
				is.Equal((<-x).reason(), api.ReasonUnreachable)
			}
			is.Equal(shower.book.Standing().TriesLeft, left)
		}
		_, entered := pair(t, shower, typer, code, WantsJoin)
		is.Equal(entered.reason(), api.ReasonCodeUsedUp)
	})
}

// Before it has, it has not: a person whose connection breaks keeps the tries.
func TestEarlyEndDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		shower.book.Open()
		a, b := connect(t, typer, shower)
		x := shower.show(t, b)
		is.NoErr(newNonMember(t, typer, a).greet(true))
		a.Close()
		is.Equal((<-x).reason(), api.ReasonUnreachable)

		a, b = connect(t, typer, shower)
		x = shower.show(t, b)
		s := newNonMember(t, typer, a)
		is.NoErr(s.greet(true))
		bad := start{With: kindCode, Wants: WantsJoin, share: share{Share: make([]byte, cpace.ShareSize), Key: typer.Public()}}
		is.NoErr(s.send(message{Start: &bad})) // the neutral element would force the key
		_, err := s.receive("a share", "share")
		is.True(errors.Is(err, api.ReasonInternal))
		is.Equal((<-x).reason(), api.ReasonMalformedMessage)
		is.Equal(shower.book.Standing().TriesLeft, api.MaxCodeTries)
	})
}

func TestTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := connect(t, typer, shower)
		x := shower.show(t, b)
		result, err := newNonMember(t, typer, a).begin(t, code)
		is.NoErr(err)
		_, second := pair(t, shower, newMac(t, 3, shower.clock), code, WantsJoin)
		is.Equal(second.reason(), api.ReasonPairingBusy)
		is.Equal(shower.book.Standing().TriesLeft, api.MaxCodeTries)

		shower.book.Close() // while the first one is in the middle of it
		is.True(result != nil)
		s := newNonMember(t, typer, a)
		is.NoErr(s.send(message{Confirm: &confirm{Tag: result.Confirm()}}))
		_, err = s.receive("the confirmation", "confirm")
		is.True(errors.Is(err, api.ReasonPairingNotOpen))
		is.Equal((<-x).reason(), api.ReasonPairingNotOpen)
		is.True(!shower.roster.IsMember(typer.Node))
	})
}

// Nothing of either Mac crosses before both have proved the code.
func TestNothingIsSaidBeforeTheProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := connect(t, typer, shower)
		x, y := shower.show(t, b), typer.enter(t, a, wrong(t, code), WantsJoin)
		<-x
		<-y
		for _, c := range []Conn{a, b} {
			is.True(len(disclosed(c)) > 0)
			for _, secret := range []string{"ecret", string(shower.roster.Cluster()), string(typer.roster.Cluster()), "0.1.0", code.reveal(), code.Reveal()} {
				is.True(!bytes.Contains(disclosed(c), []byte(secret)))
			}
		}

		a, b = connect(t, typer, shower)
		x, y = shower.show(t, b), typer.enter(t, a, code, WantsJoin)
		<-x
		<-y
		for _, c := range []Conn{a, b} { // the card comes after its side has checked the other's tag
			all := c.Conn.(*wire).frames
			names := kindsOf(t, all)
			want := map[bool][]string{
				true:  {"hello", "start", "confirm", "card", "ack"},
				false: {"hello", "share", "confirm", "card", "roster"},
			}[c.PeerKey.Equal(shower.Public())]
			is.Equal(names, want)
			is.True(!bytes.Contains(disclosed(c), []byte(code.reveal())))
		}
	})
}

// kindsOf are the kinds of the messages in what was written, a frame each.
func kindsOf(t testing.TB, frames [][]byte) []string {
	t.Helper()
	var names []string
	for _, f := range frames {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(f[4:], &m); err != nil {
			t.Fatal(err)
		}
		for name := range m {
			names = append(names, name)
		}
	}
	return names
}

// A middleman with a TLS connection to each side passes on what they say, as it
// is or with its own key in it.
func TestMiddleman(t *testing.T) {
	for name, swaps := range map[string]bool{"as it is": false, "own keys": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is, shower, typer := macs(t)
				code, _ := shower.book.Open()
				middle := newMac(t, 66, shower.clock)
				a, toTyper := connect(t, typer, middle)
				toShower, b := connect(t, middle, shower)
				relay := func(from, to Conn) {
					defer to.Close()
					l := &line{conn: from, left: 1 << 20}
					for {
						body, err := l.read()
						if err != nil {
							return
						}
						m, err := decodeMessage(body)
						if err != nil {
							return
						}
						if swaps && m.Start != nil {
							m.Start.Key = middle.Public()
						}
						if swaps && m.Share != nil {
							m.Share.Key = middle.Public()
						}
						l := &line{conn: to, clock: middle.clock, ctx: t.Context()}
						if l.send(m) != nil {
							return
						}
					}
				}
				go relay(toTyper, toShower)
				go relay(toShower, toTyper)
				x, y := shower.show(t, b), typer.enter(t, a, code, WantsJoin)
				shown, entered := <-x, <-y
				if swaps {
					is.Equal(shown.reason(), api.ReasonWrongCode) // as far as this side can tell
					is.Equal(shower.book.Standing().Tries[0].Node, middle.Node)
				} else {
					is.Equal(shown.reason(), api.ReasonConfirmationFailed)
				}
				is.True(entered.err != nil)
				is.True(!bytes.Contains(append(disclosed(a), disclosed(b)...), []byte("ecret")))
				is.Equal(len(shower.roster.Members()), 1)
			})
		})
	}
}

// A false host does not know the code, and learns nothing of the joiner.
func TestFalseHost(t *testing.T) {
	replies := map[string]func(t *testing.T, s *nonMember, m message) message{
		"reflects": func(_ *testing.T, s *nonMember, m message) message { return m },
		"guesses": func(t *testing.T, s *nonMember, m message) message {
			if m.Start != nil {
				run, err := cpace.New(cpace.Responder, input(mustCode(t, "00000001"), s.conn, s.mac.Public(), cpace.Responder))
				if err != nil {
					t.Fatal(err)
				}
				return message{Share: &share{Share: run.Message().Share, Key: s.mac.Public()}}
			}
			return message{Confirm: &confirm{Tag: make([]byte, cpace.TagSize)}}
		},
		"reflects the share and the tag": func(_ *testing.T, s *nonMember, m message) message {
			if m.Start != nil {
				return message{Share: &share{Share: m.Start.Share, Key: s.mac.Public()}}
			}
			return m
		},
		"shows its card": func(_ *testing.T, s *nonMember, m message) message {
			card := s.mac.card(s.mac.roster.Cluster())
			return message{Card: &card}
		},
	}
	for name, reply := range replies {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is, host, typer := macs(t)
				a, b := connect(t, typer, host)
				s := newNonMember(t, host, b)
				y := typer.enter(t, a, mustCode(t, "7K3MQ2XA"), WantsJoin)
				is.NoErr(s.greet(false))
				for {
					m, err := s.receive("anything", "start", "confirm", "card")
					if err != nil {
						break
					}
					is.True(m.Card == nil)
					if s.send(reply(t, s, m)) != nil {
						break
					}
				}
				entered := <-y
				is.True(entered.reason() == api.ReasonConfirmationFailed || entered.reason() == api.ReasonMalformedMessage)
				is.True(!bytes.Contains(disclosed(a), []byte("ecret")))
			})
		})
	}
}

// What an honest pair has said is of no use on another connection.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := connect(t, typer, shower)
		x, y := shower.show(t, b), typer.enter(t, a, code, WantsJoin)
		<-x
		<-y
		is.True(shower.roster.IsMember(typer.Node))
		frames := a.Conn.(*wire).frames

		c, d := connect(t, typer, shower) // even with the joiner's own key
		x = shower.show(t, d)
		go io.Copy(io.Discard, c)
		for _, f := range frames {
			if _, err := c.Write(f); err != nil {
				break
			}
		}
		is.Equal((<-x).reason(), api.ReasonWrongCode)
		is.Equal(shower.book.Standing().TriesLeft, api.MaxCodeTries-1)
	})
}

// A member that lies in its roster is not followed.
func TestFalseRoster(t *testing.T) {
	for name, lie := range map[string]func(t *testing.T, host, typer *mac) []cluster.SignedEntry{
		"without the joiner": func(_ *testing.T, host, _ *mac) []cluster.SignedEntry { return host.roster.Log() },
		"of another cluster": func(t *testing.T, host, typer *mac) []cluster.SignedEntry {
			other := newMac(t, 9, host.clock)
			other.add(t, host)
			other.add(t, typer)
			return other.roster.Log()
		},
		"without itself": func(t *testing.T, host, typer *mac) []cluster.SignedEntry {
			host.add(t, typer)
			r, err := host.roster.Remove(host.Identity, time.Now(), host.Node)
			if err != nil {
				t.Fatal(err)
			}
			return r.Log()
		},
		"with a broken signature": func(t *testing.T, host, typer *mac) []cluster.SignedEntry {
			host.add(t, typer)
			log := host.roster.Log()
			log[1].Sig = bytes.Clone(log[1].Sig)
			log[1].Sig[0] ^= 1
			return log
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is, host, typer := macs(t)
				code, _ := host.book.Open()
				before := typer.roster.Head()
				a, b := connect(t, typer, host)
				side := host.side()
				log := lie(t, host, typer)
				side.Admit = func(context.Context, Peer) ([]cluster.SignedEntry, error) { return log, nil }
				x := begin(b, func() (Outcome, error) { return Show(t.Context(), b, host.book, side) })
				y := typer.enter(t, a, code, WantsJoin)
				shown, entered := <-x, <-y
				is.True(entered.err != nil)
				is.True(!entered.HasJoined)
				is.True(shown.err != nil || shown.Doubt != nil)
				is.Equal(typer.roster.Head(), before)
			})
		})
	}
}

func TestBruteForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		random := testkit.Fixed(t, 1).Source(2)
		code, _ := shower.book.Open()
		counts := map[api.Reason]int{}
		for n := range 10_000 {
			raw := make([]byte, CodeLength*5/8)
			for i := range raw {
				raw[i] = byte(random.Uint32())
			}
			if n < 500 {
				_, entered := rawPair(t, shower, typer, codeOf(api.Base32().EncodeToString(raw)))
				counts[entered.reason()]++
				continue
			}
			// The rest at the one door to all proofs, to save the arithmetic.
			p, err := shower.book.begin(kindCode, "", Conn{PeerKey: typer.Public()})
			is.True(p == nil)
			counts[api.AsError(err).Data.Reason]++
		}
		is.Equal(counts, map[api.Reason]int{api.ReasonWrongCode: api.MaxCodeTries - 1, api.ReasonCodeUsedUp: 10_000 - api.MaxCodeTries + 1})
		is.Equal(len(shower.book.Standing().Tries), api.MaxCodeTries)
		_, entered := rawPair(t, shower, typer, code)
		is.Equal(entered.reason(), api.ReasonCodeUsedUp)
	})
}

// rawPair is pair without TLS, which thousands of times takes long.
func rawPair(t testing.TB, shower, typer *mac, s Secret) (shown, entered result) {
	a, b := net.Pipe()
	session := bytes.Repeat([]byte{7}, sessionSize)
	x := shower.show(t, Conn{Conn: b, PeerKey: typer.Public(), Session: session})
	y := typer.enter(t, Conn{Conn: a, PeerKey: shower.Public(), Session: session}, s, WantsJoin)
	return <-x, <-y
}

// The same code and the right keys at two ends of two connections.
func TestTwoConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := net.Pipe()
		x := shower.show(t, Conn{Conn: b, PeerKey: typer.Public(), Session: bytes.Repeat([]byte{1}, sessionSize)})
		y := typer.enter(t, Conn{Conn: a, PeerKey: shower.Public(), Session: bytes.Repeat([]byte{2}, sessionSize)}, code, WantsJoin)
		is.Equal((<-x).reason(), api.ReasonWrongCode)
		is.Equal((<-y).reason(), api.ReasonWrongCode)
	})
}

func TestPanicEndsOneExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := connect(t, typer, shower)
		side := shower.side()
		side.Admit = func(context.Context, Peer) ([]cluster.SignedEntry, error) { panic("a defect") }
		x := begin(b, func() (Outcome, error) { return Show(t.Context(), b, shower.book, side) })
		y := typer.enter(t, a, code, WantsJoin)
		is.Equal((<-x).reason(), api.ReasonInternal)
		is.True((<-y).err != nil)
		_, entered := pair(t, shower, typer, code, WantsJoin)
		is.NoErr(entered.err) // the code is held by nobody
	})
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		_, b := connect(t, typer, shower)
		ctx, cancel := context.WithCancel(t.Context())
		x := begin(b, func() (Outcome, error) { return Show(ctx, b, shower.book, shower.side()) })
		synctest.Wait()
		cancel()
		is.Equal((<-x).reason(), api.ReasonCancelled)
	})
}
