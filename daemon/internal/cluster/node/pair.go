package node

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Pair opens Add a Mac and gives its code, or closes it.
func (n *Node) Pair(p api.ClusterPairParams) api.ClusterPairResult {
	if p.Close {
		n.book.Close()
		return api.ClusterPairResult{}
	}
	code, until := n.book.Open()
	return api.ClusterPairResult{Code: code.Reveal(), ExpiresAt: api.TimeOf(until), TriesLeft: n.book.Standing().TriesLeft}
}

// Standing is the code as it stands, for its screen.
func (n *Node) Standing() pairing.Standing { return n.book.Standing() }

// bookChanged opens and closes what others see of Add a Mac.
func (n *Node) bookChanged() {
	n.notifyBook()
	n.notify()
}

// notifyBook says what is so now: a code that ends while another is opened is not the
// last word.
func (n *Node) notifyBook() {
	n.booking.Lock()
	defer n.booking.Unlock()
	standing := n.book.Standing()
	isOpen := standing.IsOpen()
	n.mu.Lock()
	changed := n.pairing != isOpen
	n.pairing = isOpen
	n.mu.Unlock()
	if finder := n.finder.Load(); changed && finder != nil {
		finder.SetPairing(isOpen)
	}
	n.publishTries(standing, isOpen)
}

// publishTries publishes who has tried a wrong code, for its screen, while it is
// open.
func (n *Node) publishTries(standing pairing.Standing, isOpen bool) {
	n.mu.Lock()
	before := n.tried
	n.tried = map[api.NodeID]bool{}
	if isOpen || standing.Reason == api.ReasonCodeUsedUp {
		for _, try := range standing.Tries {
			n.tried[try.Node] = true
		}
	}
	now := n.tried
	n.mu.Unlock()
	for _, try := range standing.Tries {
		if !now[try.Node] {
			continue
		}
		n.publish(api.KindPending, string(try.Node), api.Pending{
			Peer: try.Node, Name: nameless(try.Address), Address: try.Address, Interface: try.Interface,
			State: api.PendingProving, Since: api.TimeOf(try.At), ExpiresAt: api.TimeOf(standing.ExpiresAt), TriesLeft: standing.TriesLeft,
		})
	}
	for node := range before {
		if !now[node] {
			n.withdraw(api.KindPending, string(node))
		}
	}
}

// show takes the part of the Mac that shows a code, with a stranger that has
// dialled.
func (n *Node) show(ctx context.Context, conn pairing.Conn) {
	out, err := pairing.Show(ctx, conn, n.book, n.side(api.ClusterJoinParams{}, nil))
	switch {
	case err != nil:
		n.log.Info("a pairing came to nothing", "from", conn.Remote, "interface", conn.Interface, "error", err)
	case out.WasAsked:
	default:
		n.paired(out, conn, false)
	}
}

// side is what this Mac brings to a pairing: the answers of a person where it is
// to join, and what is done with the other one where that one is admitted.
func (n *Node) side(answers api.ClusterJoinParams, admitted func(api.NodeID)) pairing.Side {
	card := n.options.Card()
	r := n.options.Roster.Current()
	card.Cluster, card.IsMember = r.Cluster(), len(r.Current()) > 1
	return pairing.Side{
		Key: n.options.Identity.Public(), Card: card, Clock: n.options.Platform.Clock,
		Admit: func(_ context.Context, peer pairing.Peer) ([]cluster.SignedEntry, error) {
			return n.admit(peer, admitted)
		},
		Adopt: func(_ context.Context, r *cluster.Roster, _ pairing.Peer) error { return n.adopt(r, answers) },
	}
}

// admit signs another Mac into the roster.
func (n *Node) admit(peer pairing.Peer, admitted func(api.NodeID)) ([]cluster.SignedEntry, error) {
	n.joining.Lock()
	defer n.joining.Unlock()
	_, err := n.options.Roster.Update(func(r *cluster.Roster) (*cluster.Roster, error) {
		return r.Add(n.options.Identity, peer.PublicKey, n.options.Platform.Clock.Now())
	})
	log := n.options.Roster.Current().Log()
	if errors.Is(err, api.ReasonAlreadyMember) {
		return log, err
	}
	if err != nil {
		return nil, err
	}
	n.log.Info("a Mac was added", "node", peer.Node, "name", peer.Card.Name)
	n.replica.RosterChanged()
	if admitted != nil {
		admitted(peer.Node)
	}
	return log, nil
}

// adopt makes this Mac a member of another cluster. It was alone before: its
// documents are signed again, and its map of people begins anew.
func (n *Node) adopt(next *cluster.Roster, answers api.ClusterJoinParams) error {
	n.joining.Lock()
	defer n.joining.Unlock()
	before := n.options.Roster.Current()
	if next.Cluster() == before.Cluster() {
		_, err := n.options.Roster.Update(func(r *cluster.Roster) (*cluster.Roster, error) {
			merged, _, err := r.Merge(next.Log())
			return merged, err
		})
		return err
	}
	mayLeave := func(r *cluster.Roster) error {
		if len(r.Current()) > 1 {
			return api.NewError(api.ReasonMemberOfAnotherCluster, "")
		}
		return nil
	}
	if err := n.options.Roster.Replace(next, mayLeave); err != nil {
		return err
	}
	if err := n.signAnew(next.Cluster()); err != nil {
		return err // at the next start the documents are signed for the roster that is held
	}
	if err := n.options.Sharing.Join(next.Cluster(), answers.Account, answers.RDMAChanges); err != nil {
		n.log.Error("what is lent could not be set as it was answered", "error", err)
	}
	n.log.Info("joined a cluster", "cluster", next.Cluster())
	return nil
}

// signAnew signs this node's documents for a cluster, and drops those of others.
func (n *Node) signAnew(id api.ClusterID) error {
	if err := n.options.Writer.Rejoin(id); err != nil {
		return err
	}
	others := map[api.NodeID]bool{}
	for _, record := range n.options.Ledger.List(ledger.Filter{}) {
		if node := record.Key().Node; node != n.self {
			others[node] = true
		}
	}
	var problems []error
	for node := range others {
		problems = append(problems, n.options.Ledger.Forget(node))
	}
	return errors.Join(problems...)
}

// paired remembers where the other Mac is, so that it is dialled before
// discovery finds it.
func (n *Node) paired(out pairing.Outcome, conn pairing.Conn, isDialler bool) {
	n.mu.Lock()
	if isDialler { // of a Mac that has dialled it is not known where it listens
		n.met[out.Peer.Node] = []transport.Candidate{{Address: conn.Remote, Interface: conn.Interface}}
	}
	n.mu.Unlock()
	n.takeOut(out.Peer.Node)
	if out.Doubt != nil {
		n.log.Info("the other Mac has not said that it knows", "node", out.Peer.Node, "error", out.Doubt)
	}
	n.publishInbox()
	n.wake.Wake()
}

// asked takes up a Mac that shows a code and asks to be let in, and reports
// whether it is in the inbox now.
func (n *Node) asked(a pairing.Asking) bool {
	n.mu.Lock()
	changed := n.inbox.Receive(pairing.MomentOf(n.options.Platform.Clock), a)
	isIn := slices.ContainsFunc(n.inbox.List(), func(p api.Pending) bool { return p.Peer == a.Node })
	n.mu.Unlock()
	if changed {
		n.publishInbox()
	}
	return isIn
}

// publishInbox publishes the Macs that ask, and looks again when one is over.
func (n *Node) publishInbox() {
	n.mu.Lock()
	gone := n.inbox.Expire(pairing.MomentOf(n.options.Platform.Clock))
	list := n.inbox.List()
	next, ok := n.inbox.Next()
	n.mu.Unlock()
	for _, node := range gone {
		n.withdraw(api.KindPending, string(node))
	}
	for _, p := range list {
		n.publish(api.KindPending, string(p.Peer), p)
	}
	if ok {
		n.options.Platform.Clock.AfterFunc(max(next-n.options.Platform.Clock.Boot(), time.Second), n.publishInbox)
	}
}

// Answer is what a person does with a Mac that asks.
func (n *Node) Answer(ctx context.Context, p api.ClusterAnswerParams) error {
	if err := n.options.Sharing.CheckAccount(p.Account); err != nil {
		return err
	}
	if p.Code == "" {
		n.mu.Lock()
		err := n.inbox.Set(pairing.MomentOf(n.options.Platform.Clock), p.Node, p.State)
		n.mu.Unlock()
		if err == nil {
			n.publishInbox()
		}
		return err
	}
	code, err := pairing.ParseCode(p.Code)
	if err != nil {
		return err
	}
	var pending api.Pending
	record, found := n.options.Ledger.Get(api.Key{Node: n.self, Kind: api.KindPending, Name: string(p.Node)})
	if !found || record.Decode(&pending) != nil {
		return api.NewError(api.ReasonNoSuchNode, p.Node.Display())
	}
	ctx, cancel := n.within(ctx, joinWithin, p.Node.Display())
	defer cancel()
	conn, err := n.transport.Pair(ctx, pending.Interface, pending.Address)
	if err != nil {
		return unreachable(p.Node.Display(), tried(pending.Address, err))
	}
	defer conn.Close()
	out, err := pairing.Enter(ctx, conn, code, pairing.WantsAdmit, n.side(api.ClusterJoinParams{}, func(node api.NodeID) {
		if p.Account == "" {
			return
		}
		if err := n.options.Sharing.MapUser(api.ClusterMapUserParams{Node: node, Account: p.Account}); err != nil {
			n.log.Error("the new Mac's people could not be mapped", "node", node, "error", err)
		}
	}))
	if err == nil {
		n.paired(out, conn, true)
	}
	return publicError(err)
}

// publicError is an error as a person is told it: what lies below is for the log.
func publicError(err error) error {
	if err == nil {
		return nil
	}
	return api.AsError(err)
}

// unreachable says that a Mac could not be dialled.
func unreachable(whom string, problems ...error) error {
	e := api.NewError(api.ReasonUnreachable, whom)
	for _, problem := range problems {
		e.Data.Causes = append(e.Data.Causes, api.AsError(problem).Cause())
	}
	return e
}

// tried says of an address that was dialled what came of it.
func tried(at netip.AddrPort, err error) error {
	return api.Errorf(api.ReasonUnreachable, at.String(), "%s does not answer%s.", at, native.ErrnoSuffix(err)).From(err)
}

// Invite makes an invitation of one line.
func (n *Node) Invite(p api.ClusterInviteParams) (api.ClusterInviteResult, error) {
	var addresses []netip.Addr
	network, isRead := n.network(n.self)
	port := n.transport.Port()
	switch { // the port is opened with the first network
	case port == 0 && !isRead:
		return api.ClusterInviteResult{}, api.NewError(api.ReasonStarting, "")
	case port == 0:
		return api.ClusterInviteResult{}, api.Errorf(api.ReasonNoAddress, "invite", "No other Mac could reach this one: it uses no network and no cable.").
			WithRemedy("Connect it by cable or to a network, then try again.")
	}
	for _, i := range usable(network) {
		for _, a := range i.Addresses {
			if i.Rank < rankCostly && len(addresses) < pairing.MaxInvitationAddresses {
				addresses = append(addresses, a.Addr().WithZone(""))
			}
		}
	}
	invitation, until, err := n.book.Invite(n.options.Identity.Public(), addresses, port, api.Seconds(p.ValidS))
	if err != nil {
		return api.ClusterInviteResult{}, err
	}
	return api.ClusterInviteResult{Invite: invitation.Line(), ExpiresAt: api.TimeOf(until)}, nil
}
