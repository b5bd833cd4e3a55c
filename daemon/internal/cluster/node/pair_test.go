package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// join joins by a code, with what else is asked.
func (m *mac) join(code string, more ...func(*api.ClusterJoinParams)) error {
	p := api.ClusterJoinParams{Code: code, Account: "people", RDMAChanges: api.ChangesMembers}
	for _, f := range more {
		f(&p)
	}
	_, err := m.Join(context.Background(), p)
	return err
}

func at(m *mac) func(*api.ClusterJoinParams) {
	return func(p *api.ClusterJoinParams) { p.Address = m.office().Addr().String() }
}

// wrong is a code that is not the one.
func wrong(code string) string {
	last := "2"
	if strings.HasSuffix(code, last) {
		last = "3"
	}
	return code[:len(code)-1] + last
}

// pendings are the Macs in a Mac's inbox.
func (m *mac) pendings() map[api.NodeID]api.Pending {
	all := map[api.NodeID]api.Pending{}
	for _, record := range m.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindPending}}) {
		var p api.Pending
		m.scenario.must(record.Decode(&p))
		all[api.NodeID(record.Key().Name)] = p
	}
	return all
}

// nobodyWaits says who has somebody in the inbox.
func (d *scenario) nobodyWaits(at ...*mac) func() string {
	return func() string {
		for _, m := range at {
			if n := len(m.pendings()); n > 0 {
				return fmt.Sprintf("%s has %d in its inbox", m.host(), n)
			}
		}
		return ""
	}
}

// alone says that a Mac knows nothing of another one.
func (m *mac) alone(other *mac) string {
	if m.holder.IsMember(other.identity.Node) {
		return "is a member"
	}
	if n := len(m.ledger.List(ledger.Filter{Nodes: []api.NodeID{other.identity.Node}})); n > 0 {
		return fmt.Sprintf("%d documents", n)
	}
	return ""
}

func TestJoinByCode(t *testing.T) {
	for name, how := range map[string]func(host *mac) func(*api.ClusterJoinParams){
		"found":   func(*mac) func(*api.ClusterJoinParams) { return func(*api.ClusterJoinParams) {} },
		"address": at,
		"port": func(host *mac) func(*api.ClusterJoinParams) {
			return func(p *api.ClusterJoinParams) { p.Address = fmt.Sprint(host.office().Addr(), ":", api.PeerPort) }
		},
		"named": func(host *mac) func(*api.ClusterJoinParams) {
			return func(p *api.ClusterJoinParams) { p.Node = host.identity.Node }
		},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, 2, func(d *scenario) {
				is := is.New(d.t)
				host, guest := d.macs[0], d.macs[1]
				if name == "address" || name == "port" {
					d.multicast.setQuiet("office", true)
					d.multicast.setQuiet("cable", true)
				}
				guest.report(4)
				code := host.Pair(api.ClusterPairParams{}).Code
				d.pass(time.Second)
				is.NoErr(guest.join(code, how(host)))
				is.Equal(guest.holder.Cluster(), host.holder.Cluster())
				is.Equal(guest.sharing.cluster, host.holder.Cluster())
				is.Equal(guest.sharing.account, "people")
				is.Equal(guest.sharing.changes, api.ChangesMembers)
				took := d.whole(5 * time.Second)
				d.t.Logf("one cluster %s after the join", took)
				is.Equal(host.receives(guest), 4) // what it said before it joined
				d.within(5*time.Second, d.nobodyWaits(host, guest))
				// The code is used up.
				third := d.add()
				third.start()
				d.pass(time.Second)
				err := third.join(code, at(host))
				is.True(errors.Is(err, api.ReasonCodeUsedUp) || errors.Is(err, api.ReasonPairingNotOpen) || errors.Is(err, api.ReasonUnreachable))
				is.Equal(host.alone(third), "")
				is.Equal(third.alone(host), "")
			})
		})
	}
}

// Who types the code sooner than the announcement is heard is not turned away.
func TestJoinBeforeItIsHeard(t *testing.T) {
	on(t, 2, func(d *scenario) {
		is := is.New(d.t)
		host, guest := d.macs[0], d.macs[1]
		joined := make(chan error, 1)
		shown := make(chan string, 1)
		go func() {
			<-time.After(2 * time.Second)
			shown <- host.Pair(api.ClusterPairParams{}).Code
		}()
		go func() {
			<-time.After(time.Second)
			joined <- guest.join("ABCD-EFGH")
		}()
		is.True(errors.Is(<-joined, api.ReasonWrongCode)) // it found the Mac
		is.NoErr(guest.join(<-shown))
		d.pass(time.Second) // no announcement of a code is on its way any more
		began := time.Now()
		third := d.add()
		third.start()
		is.True(errors.Is(third.join("ABCD-EFGH"), api.ReasonPairingNotOpen))
		is.True(time.Since(began) >= time.Second && time.Since(began) <= 5*time.Second) // and it does not wait for ever
	})
}

// Three wrong codes in all end it, and the Mac's screen says who tried.
func TestWrongCodes(t *testing.T) {
	on(t, 3, func(d *scenario) {
		is := is.New(d.t)
		host, guest, other := d.macs[0], d.macs[1], d.macs[2]
		code := host.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		for i, m := range []*mac{guest, other} {
			err := m.join(wrong(code))
			is.True(errors.Is(err, api.ReasonWrongCode))
			is.True(strings.Contains(err.Error(), fmt.Sprint(2-i)))
			d.pass(time.Second)
			tried := host.pendings()[m.identity.Node]
			is.Equal(tried.State, api.PendingProving)
			is.Equal(host.Standing().TriesLeft, 2-i)
			is.True(!strings.Contains(tried.Name, m.name())) // nothing that it says of itself counts
		}
		is.Equal(len(host.pendings()), 2)
		err := guest.join(wrong(code))
		is.True(errors.Is(err, api.ReasonCodeUsedUp) || errors.Is(err, api.ReasonWrongCode))
		err = guest.join(code, at(host))
		is.True(errors.Is(err, api.ReasonCodeUsedUp))
		for _, m := range []*mac{guest, other} {
			is.Equal(host.alone(m), "")
			is.Equal(m.alone(host), "")
		}
		// A new one counts.
		code = host.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(guest.join(code))
		d.within(time.Minute, func() string { return d.broken(d.macs[:2], 2) })
	})
}

func TestCodeExpires(t *testing.T) {
	on(t, 2, func(d *scenario) {
		is := is.New(d.t)
		host, guest := d.macs[0], d.macs[1]
		code := host.Pair(api.ClusterPairParams{}).Code
		d.pass(api.CodeTTL + time.Second)
		is.True(errors.Is(guest.join(code, at(host)), api.ReasonCodeExpired))
		is.True(errors.Is(guest.join(code), api.ReasonPairingNotOpen)) // nobody shows one
		d.pass(2 * time.Minute)
		err := guest.join(code, at(host))
		is.True(errors.Is(err, api.ReasonUnreachable)) // and strangers are not even heard
		is.Equal(len(guest.holder.Members()), 1)
	})
}

// Of two who type the same code at once one is let in, and the other is told.
func TestTwoJoinAtOnce(t *testing.T) {
	on(t, 3, func(d *scenario) {
		is := is.New(d.t)
		code := d.macs[0].Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		errs := make([]error, 2)
		var joining sync.WaitGroup
		for i, m := range d.macs[1:] {
			joining.Go(func() { errs[i] = m.join(code) })
		}
		joining.Wait()
		in, out := d.macs[1], d.macs[2]
		err := errs[1]
		if errs[0] != nil {
			in, out, err = out, in, errs[0]
			is.NoErr(errs[1])
		}
		d.t.Logf("the other one is told: %v", err)
		is.True(errors.Is(err, api.ReasonCodeUsedUp) || errors.Is(err, api.ReasonPairingBusy) || errors.Is(err, api.ReasonPairingNotOpen))
		d.within(5*time.Second, func() string { return d.broken([]*mac{d.macs[0], in}, 2) })
		is.Equal(d.macs[0].alone(out), "")
		is.Equal(len(out.holder.Members()), 1)
	})
}

// A code ends with the daemon that showed it; what was joined stays.
func TestHostRestarts(t *testing.T) {
	on(t, 3, func(d *scenario) {
		is := is.New(d.t)
		host, guest, second := d.macs[0], d.macs[1], d.macs[2]
		code := host.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		host.halt()
		host.start()
		d.pass(time.Second)
		err := guest.join(code, at(host))
		is.True(errors.Is(err, api.ReasonPairingNotOpen) || errors.Is(err, api.ReasonUnreachable))
		code = host.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(guest.join(code))
		host.halt()
		host.start()
		d.within(time.Minute, func() string { return d.broken(d.macs[:2], 2) })
		// The one that was let in lets in another one.
		code = guest.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(second.join(code))
		d.whole(5 * time.Second)
		is.Equal(host.holder.Current().InvitedBy(guest.identity.Node), []api.NodeID{second.identity.Node})
	})
}

func TestMembersDoNotJoinElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("an hour of heartbeats")
	}
	bubble(t, func(d *scenario) {
		is := is.New(d.t)
		d.found(2)
		d.found(2)
		for _, m := range d.macs {
			m.start()
		}
		ours, theirs := d.macs[:2], d.macs[2:]
		together := func() string {
			if problem := d.broken(ours, 2); problem != "" {
				return problem
			}
			return d.broken(theirs, 2)
		}
		d.within(time.Minute, together)
		code := theirs[0].Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.True(errors.Is(ours[0].join(code), api.ReasonMemberOfAnotherCluster))
		is.True(errors.Is(theirs[1].join(code), api.ReasonMemberOfAnotherCluster)) // of this one, even
		is.True(ours[0].holder.Cluster() != theirs[0].holder.Cluster())
		d.pass(time.Hour)
		is.Equal(together(), "") // two clusters on one LAN stay two
		for _, m := range ours {
			for _, o := range theirs {
				is.Equal(m.alone(o), "")
				is.Equal(o.alone(m), "")
			}
		}
	})
}

// Who could not be reached gives no invitation, and says why.
func TestInvitationOfNobody(t *testing.T) {
	on(t, 0, func(d *scenario) {
		is := is.New(d.t)
		m := d.add()
		m.blind = true // it has not looked at its networks
		m.start()
		defer m.halt()
		_, err := m.Invite(api.ClusterInviteParams{})
		is.True(errors.Is(err, api.ReasonStarting))
		m.put(api.KindNetwork, "", api.Network{})
		_, err = m.Invite(api.ClusterInviteParams{})
		is.True(errors.Is(err, api.ReasonNoAddress))
		m.learn()
		d.pass(time.Second)
		_, err = m.Invite(api.ClusterInviteParams{})
		is.NoErr(err)
	})
}

func TestInvitation(t *testing.T) {
	on(t, 3, func(d *scenario) {
		is := is.New(d.t)
		host, guest, late := d.macs[0], d.macs[1], d.macs[2]
		d.multicast.setQuiet("office", true)
		d.multicast.setQuiet("cable", true)
		result, err := host.Invite(api.ClusterInviteParams{})
		is.NoErr(err)
		with := func(line string) func(*api.ClusterJoinParams) {
			return func(p *api.ClusterJoinParams) { p.Invite = line }
		}
		// One with another secret is another one: it ends nothing.
		other, err := host.Invite(api.ClusterInviteParams{ValidS: 60})
		is.NoErr(err)
		is.NoErr(guest.join("", with(result.Invite)))
		d.within(10*time.Second, func() string { return d.broken(d.macs[:2], 2) })
		is.True(errors.Is(late.join("", with(result.Invite)), api.ReasonInviteUsed))
		d.pass(61 * time.Second)
		is.True(errors.Is(late.join("", with(other.Invite)), api.ReasonInviteExpired))
		is.Equal(len(late.holder.Members()), 1)
		is.Equal(host.alone(late), "")
	})
}

// A Mac that waits to be let in shows the code, and a member's person types it.
func TestAnswer(t *testing.T) {
	on(t, 3, func(d *scenario) {
		is := is.New(d.t)
		member, other, asking := d.macs[0], d.macs[1], d.macs[2]
		code := member.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(other.join(code))
		member.Pair(api.ClusterPairParams{Close: true})
		d.pass(2 * time.Minute)

		code = asking.Pair(api.ClusterPairParams{}).Code
		d.pass(2 * time.Second)
		entry, isThere := member.pendings()[asking.identity.Node]
		is.True(isThere)
		is.Equal(entry.State, api.PendingAsking)
		is.Equal([]string{entry.Name, entry.ModelName}, []string{asking.name(), "Secret Studio"}) // so that a person knows whose code it is
		is.Equal(entry.TriesLeft, api.MaxCodeTries)
		answer := func(m *mac, code string, state api.PendingState) error {
			return m.Answer(context.Background(), api.ClusterAnswerParams{Node: asking.identity.Node, Code: code, State: state, Account: "guests"})
		}
		is.NoErr(answer(member, "", api.PendingLater))
		is.Equal(member.pendings()[asking.identity.Node].State, api.PendingLater)
		is.True(errors.Is(answer(member, wrong(code), ""), api.ReasonWrongCode))
		is.Equal(member.alone(asking), "")
		is.Equal(asking.alone(member), "")
		is.NoErr(answer(member, code, ""))
		d.whole(10 * time.Second)
		is.Equal(member.sharing.mapped[asking.identity.Node], "guests")
		d.within(10*time.Second, d.nobodyWaits(member, other, asking))
	})
}

// However many ask, a member's person sees one more a minute; each that goes on
// asking comes in the end.
func TestInboxIsNotFlooded(t *testing.T) {
	bubble(t, func(d *scenario) {
		is := is.New(d.t)
		d.found(2)
		for _, m := range d.macs {
			m.start()
		}
		d.whole(time.Minute)
		for range 4 {
			d.add().start()
		}
		d.pass(time.Second)
		for _, m := range d.macs[2:] {
			m.Pair(api.ClusterPairParams{})
		}
		d.pass(5 * time.Second)
		is.Equal(len(d.macs[0].pendings()), 1)
		d.pass(70 * time.Second)
		is.Equal(len(d.macs[0].pendings()), 2)
		d.pass(2*time.Minute + 10*time.Second)
		is.Equal(len(d.macs[0].pendings()), 4)
		// On a Mac that is alone nothing is held back: somebody is about to type it.
		lone := d.add()
		lone.start()
		d.pass(10 * time.Second)
		is.Equal(len(lone.pendings()), 4)
		for _, m := range d.macs[2:6] {
			m.Pair(api.ClusterPairParams{Close: true})
		}
		d.pass(5 * time.Second)
		is.Equal(len(lone.pendings())+len(d.macs[0].pendings()), 0)
		// One that asks again is shown again.
		d.pass(2 * time.Minute)
		d.macs[3].Pair(api.ClusterPairParams{})
		d.pass(5 * time.Second)
		is.Equal(len(d.macs[0].pendings()), 1)
		is.Equal(len(lone.pendings()), 1)
	})
}
