package pairing

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// macs are two of them in a bubble.
func macs(t *testing.T) (check *is.I, one, other *mac) {
	t.Helper()
	clock := newClock()
	return is.New(t), newMac(t, 1, clock), newMac(t, 2, clock)
}

func TestJoin(t *testing.T) {
	for name, showerDials := range map[string]bool{"who types dials": false, "who shows dials": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is, shower, typer := macs(t)
				shower.add(t, newMac(t, 3, shower.clock))
				code, until := shower.book.Open()
				is.Equal(until, time.Now().Add(api.CodeTTL))
				of := func(dialler, other *mac) (a, b Conn) { return connect(t, dialler, other) }
				a, b := of(typer, shower)
				if showerDials {
					b, a = of(shower, typer)
				}
				x, y := shower.show(t, b), typer.enter(t, a, mustCode(t, strings.ToLower(code.Reveal())), WantsJoin)
				shown, entered := <-x, <-y
				is.NoErr(shown.err)
				is.NoErr(entered.err)
				is.True(!shown.HasJoined && shown.Doubt == nil && !shown.AlreadyMember)
				is.True(entered.HasJoined && entered.Doubt == nil && !entered.AlreadyMember)
				is.Equal(shown.Peer.Node, typer.Node)
				is.Equal(shown.Peer.Card, typer.card(shown.Peer.Card.Cluster))
				is.Equal(entered.Peer.Card.Name, shower.name)
				is.True(entered.Peer.Card.IsMember)
				is.Equal(typer.roster.Cluster(), shower.roster.Cluster())
				is.Equal(len(typer.roster.Current()), 3)
				is.Equal(shower.book.Standing().UsedBy, typer.Node)
				is.Equal(shower.book.Standing().TriesLeft, api.MaxCodeTries)
			})
		})
	}
}

// card is what a mac says while it is alone.
func (m *mac) card(c api.ClusterID) Card {
	return Card{Name: m.name, ShortName: "secret-name", ModelName: "Secret Model", Version: "0.1.0", Cluster: c}
}

// A member types the code that the asking Mac shows.
func TestAdmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		typer.add(t, newMac(t, 3, typer.clock))
		code, _ := shower.book.Open()
		shown, entered := pair(t, shower, typer, code, WantsAdmit)
		is.NoErr(shown.err)
		is.NoErr(entered.err)
		is.True(shown.HasJoined && !entered.HasJoined && entered.Doubt == nil)
		is.Equal(shower.roster.Cluster(), typer.roster.Cluster())
		is.True(shower.roster.IsMember(shower.Node))
		is.Equal(shower.roster.Members()[2].AddedBy, typer.Node)
	})
}

// The roster of a cluster of many years is larger than what a stranger may send.
func TestLargeRoster(t *testing.T) {
	for _, wants := range []Wants{WantsJoin, WantsAdmit} {
		synctest.Test(t, func(t *testing.T) {
			is, shower, typer := macs(t)
			host := map[Wants]*mac{WantsJoin: shower, WantsAdmit: typer}[wants]
			for n := byte(3); ; n++ {
				raw, err := host.roster.MarshalJSON()
				is.NoErr(err)
				if len(raw) > api.MaxPairingBytes {
					break
				}
				host.add(t, newMac(t, n, host.clock))
			}
			code, _ := shower.book.Open()
			shown, entered := pair(t, shower, typer, code, wants)
			is.NoErr(shown.err)
			is.NoErr(entered.err)
			is.Equal(shower.roster.Head(), typer.roster.Head())
		})
	}
}

func TestInvitation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, host, joiner := macs(t)
		i, until, err := host.book.Invite(host.Public(), []netip.Addr{netip.MustParseAddr("10.0.0.1")}, 7732, 0)
		is.NoErr(err)
		is.Equal(until, time.Now().Add(DefaultInviteValidity))
		read, err := ParseInvitation(i.Line())
		is.NoErr(err)
		is.Equal(api.NodeIDFromKey(read.PublicKey), host.Node)
		shown, entered := pair(t, host, joiner, read, WantsJoin)
		is.NoErr(shown.err)
		is.NoErr(entered.err)
		is.True(host.roster.IsMember(joiner.Node))

		third := newMac(t, 3, host.clock)
		_, entered = pair(t, host, third, read, WantsJoin)
		is.Equal(entered.reason(), api.ReasonInviteUsed)
		_, entered = pair(t, third, joiner, read, WantsJoin)
		is.Equal(entered.reason(), api.ReasonWrongIdentity) // another Mac at the address

		again, _, err := host.book.Invite(host.Public(), nil, 7732, time.Minute)
		is.NoErr(err)
		time.Sleep(time.Minute)
		_, entered = pair(t, host, third, again, WantsJoin)
		is.Equal(entered.reason(), api.ReasonInviteExpired)
		_, _, err = host.book.Invite(host.Public(), nil, 7732, MaxInviteValidity+1)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)
	})
}

// An invitation with a wrong secret, made up by somebody who saw its id, ends
// nothing but that proof.
func TestForgedInvitation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, host, joiner := macs(t)
		good, _, err := host.book.Invite(host.Public(), nil, 7732, 0)
		is.NoErr(err)
		for range 2 * api.MaxCodeTries {
			_, entered := pair(t, host, joiner, forged{good}, WantsJoin)
			is.Equal(entered.reason(), api.ReasonConfirmationFailed)
		}
		_, entered := pair(t, host, joiner, good, WantsJoin)
		is.NoErr(entered.err)
	})
}

type forged struct{ Invitation }

func (forged) reveal() string { return "0123456789abcdef" }

func TestWrongCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		want := []string{
			"Wrong code, 2 tries left. (Read the code on the other Mac again.)",
			"Wrong code, 1 try left. (Read the code on the other Mac again.)",
			"Too many wrong codes were tried. (For a new one, choose Add a Mac again, or run `fulmen pair`.)",
		}
		for i, text := range want {
			shown, entered := pair(t, shower, newMac(t, byte(3+i), shower.clock), wrong(t, code), WantsJoin)
			is.Equal(entered.err.Error(), text)
			is.Equal(shown.reason(), entered.reason())
			is.True(!strings.Contains(shown.err.Error()+entered.err.Error(), code.reveal()))
		}
		s := shower.book.Standing()
		is.Equal(s.Reason, api.ReasonCodeUsedUp)
		is.Equal(s.TriesLeft, 0)
		is.Equal(len(s.Tries), 3)
		is.Equal(s.Tries[2], Try{Node: newMac(t, 5, shower.clock).Node, Address: netip.MustParseAddrPort("10.0.0.7:50000"), Interface: "en0", At: time.Now()})
		_, entered := pair(t, shower, typer, code, WantsJoin)
		is.Equal(entered.reason(), api.ReasonCodeUsedUp) // also for who knows it
		is.True(!shower.roster.IsMember(typer.Node))

		again, _ := shower.book.Open()
		is.True(again.reveal() != code.reveal())
		_, entered = pair(t, shower, typer, again, WantsJoin)
		is.NoErr(entered.err)
	})
}

func TestCodeNoLongerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		_, entered := pair(t, shower, typer, mustCode(t, "00000000"), WantsJoin)
		is.Equal(entered.reason(), api.ReasonPairingNotOpen)
		code, _ := shower.book.Open()
		shower.clock.sleep(api.CodeTTL) // the lid was closed; no timer has run
		_, entered = pair(t, shower, typer, code, WantsJoin)
		is.Equal(entered.reason(), api.ReasonCodeExpired)
		code, _ = shower.book.Open()
		shower.book.Close()
		_, entered = pair(t, shower, typer, code, WantsJoin)
		is.Equal(entered.reason(), api.ReasonPairingNotOpen)
		is.Equal(len(shower.book.Standing().Tries), 0)
	})
}

// The answer is lost after the joiner was added: with the same code it gets the
// roster, and nobody else does anything with the code.
func TestRetryAfterALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		typer.noAdopt = errors.New("the disk is full")
		shown, entered := pair(t, shower, typer, code, WantsJoin)
		is.NoErr(shown.err)
		is.Equal(api.AsError(shown.Doubt).Data.Reason, api.ReasonInternal)
		is.True(strings.Contains(entered.err.Error(), "disk is full"))
		is.True(shower.roster.IsMember(typer.Node)) // it is one, whether it knows it or not

		_, other := pair(t, shower, newMac(t, 3, shower.clock), code, WantsJoin)
		is.Equal(other.reason(), api.ReasonPairingNotOpen)

		typer.noAdopt = nil
		head := shower.roster.Head()
		shown, entered = pair(t, shower, typer, code, WantsJoin)
		is.NoErr(shown.err)
		is.NoErr(entered.err)
		is.True(shown.AlreadyMember && entered.AlreadyMember && shown.Doubt == nil)
		is.Equal(shower.roster.Head(), head) // nothing was added twice
		is.Equal(typer.roster.Head(), head)
	})
}

// The joiner goes away when it should acknowledge.
func TestNoAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := connect(t, typer, shower)
		x := shower.show(t, b)
		side := typer.side()
		side.Adopt = nil // panics
		y := begin(a, func() (Outcome, error) { return Enter(t.Context(), a, code, WantsJoin, side) })
		shown, entered := <-x, <-y
		is.NoErr(shown.err)
		is.True(shown.Doubt != nil)
		is.Equal(entered.reason(), api.ReasonInternal)
	})
}

func TestMemberOfAnotherCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		shower.add(t, newMac(t, 3, shower.clock))
		typer.add(t, newMac(t, 4, shower.clock))
		code, _ := shower.book.Open()
		a, _ := connect(t, typer, shower)
		entered := <-typer.enter(t, a, code, WantsJoin)
		is.Equal(entered.reason(), api.ReasonMemberOfAnotherCluster)
		is.Equal(len(disclosed(a)), 0) // it need not be asked

		shown, entered := pair(t, shower, typer, code, WantsAdmit)
		is.Equal(shown.reason(), api.ReasonMemberOfAnotherCluster) // who shows the code is in one, too
		is.Equal(entered.reason(), api.ReasonMemberOfAnotherCluster)

		typer.leaves = true
		shown, entered = pair(t, shower, typer, code, WantsJoin)
		is.NoErr(shown.err)
		is.NoErr(entered.err)
		is.Equal(typer.roster.Cluster(), shower.roster.Cluster())
	})
}

func TestRemovedMac(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		shower.add(t, typer)
		var err error
		shower.roster, err = shower.roster.Remove(shower.Identity, time.Now(), typer.Node)
		is.NoErr(err)
		code, _ := shower.book.Open()
		shown, entered := pair(t, shower, typer, code, WantsJoin)
		is.Equal(shown.reason(), api.ReasonRemoved)
		is.Equal(entered.reason(), api.ReasonRemoved)
	})
}

func TestOwnKeyOnTheOtherSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, _ := macs(t)
		clone := newMac(t, 1, shower.clock)
		code, _ := shower.book.Open()
		_, entered := pair(t, shower, clone, code, WantsJoin)
		is.Equal(entered.reason(), api.ReasonDuplicateIdentity)
	})
}

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, asker := macs(t)
		shower.name = "Ada's\nMac \u202e"
		ask := func() (Claim, result, error) {
			a, b := connect(t, asker, shower)
			shown := shower.show(t, b)
			claim, err := Ask(t.Context(), a, asker.clock)
			reported := <-shown
			if claim.Name == "" { // who hears no name hears nothing
				is.True(!bytes.Contains(disclosed(b), []byte("ecret")))
			}
			is.True(!bytes.Contains(disclosed(b), []byte("secret-name"))) // the rest of the card is for who proves the code
			is.True(!bytes.Contains(disclosed(a), []byte("ecret")))       // who asks tells nothing
			return claim, reported, err
		}
		_, reported, err := ask()
		is.True(errors.Is(err, api.ReasonPairingNotOpen)) // nothing is shown
		is.True(!reported.WasAsked)
		_, _, err = shower.book.Invite(shower.Public(), nil, 7732, time.Hour)
		is.NoErr(err)
		_, _, err = ask()
		is.True(errors.Is(err, api.ReasonPairingNotOpen)) // an invitation says whom it is from

		code, _ := shower.book.Open()
		time.Sleep(time.Minute)
		claim, reported, err := ask()
		is.NoErr(err)
		is.NoErr(reported.err)
		is.True(reported.WasAsked)
		is.Equal(claim, Claim{Name: "Ada's Mac", ModelName: "Secret Model", ValidMS: (api.CodeTTL - time.Minute).Milliseconds(), TriesLeft: api.MaxCodeTries})
		_, entered := pair(t, shower, asker, wrong(t, code), WantsJoin)
		is.Equal(entered.reason(), api.ReasonWrongCode)
		claim, _, err = ask()
		is.NoErr(err)
		is.Equal(claim.TriesLeft, api.MaxCodeTries-1) // asking costs none
		time.Sleep(api.CodeTTL - time.Minute - time.Millisecond)
		claim, _, err = ask()
		is.NoErr(err)
		is.Equal(claim.ValidMS, int64(1))
		time.Sleep(time.Nanosecond)
		_, _, err = ask()
		is.True(errors.Is(err, api.ReasonPairingNotOpen)) // nobody can type it in that time
		code, _ = shower.book.Open()
		_, entered = pair(t, shower, newMac(t, 3, shower.clock), code, WantsJoin)
		is.NoErr(entered.err)
		_, _, err = ask()
		is.True(errors.Is(err, api.ReasonPairingNotOpen)) // somebody has used it
	})
}
