package node

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
	"fulmen/native/waker"
)

// Join joins the cluster of the Mac that shows a code, or of the one that made
// an invitation.
func (n *Node) Join(ctx context.Context, p api.ClusterJoinParams) (api.ClusterJoinResult, error) {
	if err := n.options.Sharing.CheckAccount(p.Account); err != nil {
		return api.ClusterJoinResult{}, err
	}
	if len(n.options.Roster.Members()) > 1 {
		return api.ClusterJoinResult{}, api.NewError(api.ReasonMemberOfAnotherCluster, "")
	}
	secret, where, err := n.wanted(ctx, p)
	if err != nil {
		return api.ClusterJoinResult{}, err
	}
	ctx, cancel := n.within(ctx, joinWithin, "a Mac that shows a code")
	defer cancel()
	conn, err := n.dialFirst(ctx, where, p.Node)
	if err != nil {
		return api.ClusterJoinResult{}, err
	}
	defer conn.Close()
	out, err := pairing.Enter(ctx, conn, secret, pairing.WantsJoin, n.side(p, nil))
	if err != nil {
		n.log.Info("joining came to nothing", "with", conn.Remote, "error", err)
		return api.ClusterJoinResult{}, publicError(err)
	}
	n.paired(out, conn, true)
	r := n.options.Roster.Current()
	return api.ClusterJoinResult{Cluster: r.Cluster(), Members: r.Members()}, nil
}

// wanted is the secret of a join, and where the Mac may be that knows it too.
func (n *Node) wanted(ctx context.Context, p api.ClusterJoinParams) (pairing.Secret, [][]transport.Candidate, error) {
	if p.Invite != "" {
		invitation, err := pairing.ParseInvitation(p.Invite)
		if err != nil {
			return nil, nil, err
		}
		var all []transport.Candidate
		for _, a := range invitation.Addresses {
			all = append(all, n.everyInterface(netip.AddrPortFrom(a, uint16(invitation.Port)))...)
		}
		return invitation, [][]transport.Candidate{all}, nil
	}
	code, err := pairing.ParseCode(p.Code)
	if err != nil {
		return nil, nil, err
	}
	if p.Address != "" {
		all, err := n.resolve(ctx, p.Address)
		return code, [][]transport.Candidate{all}, err
	}
	where := n.nearby(ctx)
	if len(where) == 0 {
		return nil, nil, api.Errorf(api.ReasonPairingNotOpen, "", "No Mac nearby shows a code.").
			WithRemedy("Choose Add a Mac there, or run `fulmen pair`. If the network hides it, name its address here: fulmen join ADDRESS")
	}
	return code, where, nil
}

// nearbyWithin is how long an announcement may take to be heard.
const nearbyWithin = 3 * time.Second

// nearby is where Macs that show a code are. One that has just begun to may not
// have been heard yet.
func (n *Node) nearby(ctx context.Context) [][]transport.Candidate {
	ctx, cancel := n.within(ctx, nearbyWithin, "a Mac that shows a code")
	defer cancel()
	wake := waker.New()
	stop := n.Watch(wake.Wake)
	defer stop()
	for {
		var where [][]transport.Candidate
		if finder := n.finder.Load(); finder != nil { // else the daemon has just started
			for _, s := range finder.NonMembers() {
				where = append(where, s.Candidates)
			}
			for _, c := range finder.Unclaimed() {
				where = append(where, []transport.Candidate{c})
			}
		}
		if len(where) > 0 || !native.Wait(ctx, n.options.Platform.Clock, native.Forever, wake) {
			return where
		}
	}
}

// everyInterface is an address by each interface that may lead to it: an
// invitation does not know the reader's.
func (n *Node) everyInterface(to netip.AddrPort) []transport.Candidate {
	if !to.Addr().IsLinkLocalUnicast() {
		return []transport.Candidate{{Address: to}}
	}
	var all []transport.Candidate
	network, _ := n.network(n.self)
	for _, i := range usable(network) {
		if i.Rank < rankCostly {
			all = append(all, transport.Candidate{Address: netip.AddrPortFrom(native.Zoned(to.Addr(), i.Name), to.Port()), Interface: i.Name})
		}
	}
	return all
}

// resolve finds where HOST or HOST:PORT is.
func (n *Node) resolve(ctx context.Context, address string) ([]transport.Candidate, error) {
	host, port, err := discover.ParseHost(address)
	if err != nil {
		return nil, badAddress(address)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return n.everyInterface(netip.AddrPortFrom(ip, port)), nil
	}
	ctx, cancel := n.within(ctx, joinWithin, "the address of "+host)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, badAddress(address)
	}
	var all []transport.Candidate
	for _, ip := range found {
		all = append(all, n.everyInterface(netip.AddrPortFrom(ip.Unmap(), port))...)
	}
	return all, nil
}

func badAddress(address string) error {
	return api.Errorf(api.ReasonBadValue, "address", "%q is not a host or address, with or without a port.", address)
}

// dialFirst connects to the Mac that is meant: the first of each that answers.
// Where several answer and none was named, the person has to say which.
func (n *Node) dialFirst(ctx context.Context, where [][]transport.Candidate, wanted api.NodeID) (pairing.Conn, error) {
	type answer struct {
		conn pairing.Conn
		err  error
	}
	answers := make(chan answer, len(where))
	for _, of := range where {
		go func() {
			conn, err := n.dialAny(ctx, of)
			answers <- answer{conn, err}
		}()
	}
	var open []pairing.Conn
	var problems []error
	for range where {
		a := <-answers
		switch {
		case a.err != nil:
			problems = append(problems, a.err)
		case slices.ContainsFunc(open, func(o pairing.Conn) bool { return o.PeerKey.Equal(a.conn.PeerKey) }),
			wanted != "" && a.conn.Peer() != wanted:
			a.conn.Close()
		default:
			open = append(open, a.conn)
		}
	}
	if len(open) == 1 {
		return open[0], nil
	}
	var names []string
	for _, c := range open {
		names = append(names, fmt.Sprintf("%s at %s", c.Peer().Display(), c.Remote.Addr()))
		c.Close()
	}
	if len(open) > 1 {
		slices.Sort(names)
		return pairing.Conn{}, api.Errorf(api.ReasonAmbiguousName, "node", "Several Macs show a code: %s. Name one of them.", strings.Join(names, ", "))
	}
	if wanted != "" && len(problems) < len(where) {
		return pairing.Conn{}, api.NewError(api.ReasonNoSuchNode, wanted.Display())
	}
	return pairing.Conn{}, unreachable("", problems...)
}

// dialAny connects to a Mac at one of its addresses, in turn.
func (n *Node) dialAny(ctx context.Context, at []transport.Candidate) (pairing.Conn, error) {
	problem := error(api.NewError(api.ReasonNoPath, ""))
	for _, c := range at {
		ctx, cancel := n.within(ctx, joinWithin/3, c.Address.String())
		conn, err := n.transport.Pair(ctx, c.Interface, c.Address)
		cancel()
		if err == nil {
			return conn, nil
		}
		problem = tried(c.Address, err)
	}
	return pairing.Conn{}, problem
}
