package daemon

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/grant/lend"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/job/attach"
	"fulmen/daemon/internal/job/beat"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/placement"
	"fulmen/daemon/internal/rank"
	"fulmen/daemon/internal/rank/input"
	"fulmen/daemon/internal/rank/output"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/programs"
	"fulmen/daemon/internal/relay"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/simulate"
	"fulmen/daemon/internal/view"
	"fulmen/native"
)

// shimsAreAccounts says that the system's supervisor runs a rank's shim as the
// rank's account itself: launchd then owns its privacy identity.
const shimsAreAccounts = runtime.GOOS == "darwin"

// openJobs makes what runs jobs: the arbiter, the ranks of this node, what they
// print and read, and the controller. What other nodes call is answered from here
// on; nothing is begun before serve.
func (d *daemon) openJobs() error {
	self := d.program
	ranks, done, err := rank.RuntimeFolder(d.folders.Runtime)
	if err != nil {
		return err
	}
	d.onClose(done)
	if shimsAreAccounts && os.Getuid() == 0 {
		// Their shims pass through it to their own folders; nothing in it can be listed.
		if err := os.Chmod(d.folders.State, 0o711); err != nil {
			return err
		}
	}
	d.peers = peer.New(d.identity.Node, d.node, d.gate)
	d.grants = lend.New(lend.Config{
		Self: d.identity.Node, Clock: d.platform.Clock, Ledger: d.ledger, Documents: d.owner("grant", api.KindGrant), Facts: d.platform.Facts,
		Peers: d.peers, Policy: d.lending, Sharing: d.policy.Sharing, IsChanging: func() bool { return d.changes.Changing() },
		Device: d.deviceRefusal, Obstacle: d.obstacle, Ranks: d.liveRanks,
		Job:     func(id api.JobID) (api.JobSpec, bool) { spec, _, found := d.specOf(id); return spec, found },
		GPUWait: func() time.Duration { return d.live.Current().Times.GPUWait }, Lease: d.live.Current().Times.Lease,
		Name: d.shortNameOf, Log: d.logs.Part("grant"),
	})
	d.onClose(func() error { d.grants.Close(); return nil })
	d.openChannels()
	d.preparer = prepare.New(prepare.Config{
		Self: rank.RunByAnybody(self), Worker: d.worker, State: d.folders.State, OwnUID: uint32(os.Getuid()),
		Clock: d.platform.Clock, Log: d.logs.Part("rank"),
	})
	d.onClose(d.preparer.Close)
	d.programs = programs.New(programs.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Ledger: d.ledger, Peers: d.peers, Policy: d.lending, Preparer: d.preparer,
		Self: rank.RunByAnybody(self), Users: func() []api.MappedUser { return d.policy.Users(true).Users }, Job: d.known, Name: d.shortNameOf, Log: d.logs.Part("rank"),
	})
	var listen func(context.Context, []netip.Addr) ([]netip.AddrPort, error) // nil: at the addresses themselves
	if d.platform.Simulated {
		listen = rank.FreeLoopbackPorts
	}
	times := func() phase.Times {
		current, times := d.live.Current().Times, phase.DefaultTimes()
		times.Lease, times.Renewal = current.Lease, current.LeaseRenewal
		times.Preparing, times.Starting, times.Handshake = current.Preparing, current.Starting, current.Handshake
		times.Grace, times.FailedGrace = current.Grace, current.FailedGrace
		return times
	}
	awake := lifecycle.NewAwake(d.platform.Clock, d.keepAwake(), func() bool { return len(d.ranks.Live()) > 0 }, d.logs.Part("rank"))
	d.onClose(awake.Close)
	d.output = health.NewOutput(d.conditions, d.platform.Clock.Now)
	d.ranks = rank.New(rank.Config{
		Node: d.identity.Node, Cluster: d.roster.Cluster, Clock: d.platform.Clock, Peers: d.peers,
		Jobs: d.ledger, Deleted: d.isDeleted, Documents: d.owner("rank", api.KindRank), Grants: d.grants, RestoreGrant: func(of rank.Grant) error {
			return d.grants.Restore(grant.Request{
				Holder: grant.ForRank(of.Rank), Epoch: of.Epoch, Principal: of.Principal, GPU: of.GPU, MemoryBytes: of.MemoryBytes,
				Receptacles: of.Receptacles, Lease: of.Lease,
			})
		},
		Policy: d.lending, Preparer: d.preparer, Fetch: d.programs.Fetch, Supervisor: d.platform.Supervisor, ShimAsAccount: shimsAreAccounts,
		Program: self, Folder: d.folders.JobsFolder(), Runtime: ranks, Listen: listen,
		Preparing: func() time.Duration { return times().Preparing }, Starting: func() time.Duration { return times().Starting }, Grace: func() time.Duration { return times().Grace },
		Channels: channels{d.channels}, Handshake: func() time.Duration { return times().Handshake },
		FailedGrace: func() time.Duration { return times().FailedGrace },
		Spawned:     d.spawned, Ended: d.rankEnded, OutputLost: d.output.Lost, Changed: awake.Changed, Log: d.logs.Part("rank"),
	})
	d.onClose(func() error { d.ranks.Close(); return nil })
	d.departure = lifecycle.Departure{
		Ranks: d.ranks, Ledger: d.ledger, Clock: d.platform.Clock, Log: d.logs.Part("rank"),
		Grace: func() time.Duration { return d.live.Current().Times.FailedGrace },
	}
	d.openPublisher()
	printed := output.New(output.Config{Peers: d.peers, Clock: d.platform.Clock, Folder: func(ref api.RankRef) (string, bool) {
		folder, _, _, ok := d.ranks.Folder(ref)
		return folder, ok
	}, Ended: d.ranks.Ended})
	d.onClose(printed.Close)
	input.New(input.Config{Peers: d.peers, Clock: d.platform.Clock, Shim: d.shimOf, Ended: d.ranks.Ended})
	d.jobs, err = job.New(job.Config{
		Node: d.identity.Node, Key: d.identity.Key(), Electors: node.Electors{Holder: d.roster}, Roster: d.rosterHeads, Memory: d.records, Clock: d.platform.Clock,
		Peers: d.peers, Ledger: d.ledger, Documents: d.owner("job", api.KindJob), Settle: d.behind.Flush, Sight: d.node, Access: d.lending, Beats: beats{d},
		Planner: &view.Planner{
			Ledger: d.ledger, Nodes: d.nodes, Members: d.roster.Members, Now: d.platform.Clock.Now, Asked: func() { d.asking.Ask() },
			TTL:     d.pathTTL,
			Trusted: func() []netip.Prefix { return d.live.Current().Network.Trusted },
		}, Cables: d.graph.CablesNow,
		Unfit: func(plan api.Plan, mlx map[api.NodeID]api.ProgramMLX) (faults, notes []api.Cause) {
			return placement.Unfit(plan, mlx, d.shortNameOf)
		},
		Compare: func(answers []api.Preflight, allowMixed bool) []api.Cause {
			return prepare.Compare(answers, allowMixed, d.shortNameOf)
		}, Name: d.shortNameOf, Find: d.find, Forget: d.forgetJob, Bind: d.ranks.Bind, Times: times,
		BeatTimes: func() beat.Times {
			current := d.live.Current().Times
			return beat.Times{Every: current.Beat, Lost: current.BeatLost}
		},
		PreflightWithin: func() time.Duration { return d.live.Current().Times.Preflight }, Log: d.logs.Part("job"),
	})
	if err != nil {
		return err
	}
	d.roster.OnChange(d.membersChanged)
	d.attach = attach.New(attach.Config{
		Clock: d.platform.Clock, Peers: d.peers, Ledger: d.ledger, Counts: d.jobs.Counts, May: d.lending.May, Name: d.shortNameOf, Lost: d.inputLost, Log: d.logs.Part("job"),
	})
	d.onClose(func() error { d.attach.Close(); return nil })
	d.attended = job.NewAttended(d.jobs)
	return nil
}

// liveRanks are the ranks that run here.
func (d *daemon) liveRanks() []api.RankRef {
	var all []api.RankRef
	for _, live := range d.ranks.Live() {
		all = append(all, live.Rank)
	}
	return all
}

// spawned hears of a rank's program that runs.
func (d *daemon) spawned(ref api.RankRef) {
	d.channels.Spawned(ref)
	d.publisher.Spawned(ref)
}

// membersChanged ends what nodes have here that are no members any more: the jobs
// of their people, and ranks that they asked for. Jobs of this node's people go on in
// another cluster.
func (d *daemon) membersChanged(before, after *cluster.Roster) {
	if before.Cluster() != after.Cluster() {
		d.jobs.ClusterChanged()
	}
	removed := slices.DeleteFunc(before.Current(), after.IsMember)
	if len(removed) == 0 {
		return
	}
	d.jobs.MembersRemoved(removed)
	d.departure.EndFormer(removed, func(id api.JobID) (api.Principal, bool) { spec, _, found := d.specOf(id); return spec.Principal, found })
}

// inputLost hears of an attempt that cannot be given its job's input: it would
// take a part for the whole.
func (d *daemon) inputLost(id api.JobID, why *api.Error) {
	d.logs.Part("job").Warn("a job's input is lost", "job", id, "error", why)
	d.attended.Gone(id)
}

// runJobs finds again what the daemon before has left, and then works until ctx
// ends.
func (d *daemon) runJobs(ctx context.Context) error {
	if err := d.ranks.Restore(ctx); err != nil {
		return err
	}
	if err := d.grants.ForgetFormer(); err != nil {
		return err
	}
	d.attended.Expect()
	return d.jobs.Run(ctx)
}

// publicKey is a current member's key.
func (d *daemon) publicKey(id api.NodeID) (ed25519.PublicKey, bool) { return d.roster.PublicKey(id) }

// beats carries beats between the nodes of jobs.
type beats struct{ d *daemon }

// Send is the beater's.
func (b beats) Send(to api.NodeID) error { return b.d.node.Beat(to) }

// HungUp is the jobs'.
func (b beats) HungUp(f func(node api.NodeID)) { b.d.node.HungUp(f) }

// Receive is the beater's.
func (b beats) Receive(f func(from api.NodeID)) { b.d.node.Beats(f) }

// shimOf finds the shim of a rank of this node.
func (d *daemon) shimOf(ref api.RankRef) (input.Shim, bool) {
	_, socket, _, ok := d.ranks.Folder(ref)
	if !ok {
		return input.Shim{}, false
	}
	for _, live := range d.ranks.Live() {
		if live.Rank == ref {
			return input.Shim{Socket: socket, Epoch: live.Epoch}, true
		}
	}
	return input.Shim{}, false
}

// find finds a node by its id, a unique beginning of it, or its short name; empty
// is this one.
func (d *daemon) find(ref api.NodeRef) (api.NodeID, error) { return d.nodes.Find(ref) }

// called is what people call a node by its own document, where there is no view yet.
func (d *daemon) called(id api.NodeID) string { return view.Name(d.ledger, id) }

// shortNameOf is what people call a node.
func (d *daemon) shortNameOf(id api.NodeID) string { return d.nodes.Current().Name(id) }

// isDeleted reports whether a job is known to have been deleted.
func (d *daemon) isDeleted(id api.JobID) bool { return d.jobs.Deleted(id) }

// rosterHeads are the heads of the roster, for specs that are signed.
func (d *daemon) rosterHeads() []string {
	var all []string
	for _, h := range d.roster.Current().Heads() {
		all = append(all, string(h))
	}
	return all
}

// forgetJob ends and forgets what this node has of a job that was deleted.
func (d *daemon) forgetJob(ctx context.Context, id api.JobID, policy api.OutputPolicy) {
	if err := d.ranks.Forget(ctx, id, policy); err != nil && ctx.Err() == nil && !errors.Is(err, native.ErrNotFound) {
		d.logs.Part("rank").Warn("a deleted job's ranks could not be forgotten", "job", id, "error", err)
	}
}

// rankEnded hears of every rank of this node that has ended.
func (d *daemon) rankEnded(rank api.Rank) {
	d.publisher.Ended(rank)
	d.output.Ended(rank)
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	receptacles := d.ranks.Receptacles(ref)
	if len(receptacles) == 0 {
		return
	}
	d.cables.RankEnded(rank, receptacles)
	d.facts.Reread(native.AreaRDMA) // before somebody else gets them
}

// handshake hears how far a rank of this node has come.
func (d *daemon) handshake(ref api.RankRef, now api.Handshake) {
	if d.prober.Tell(ref, now) {
		return
	}
	d.ranks.SetHandshake(ref, now)
	if now.State == api.HandshakeJoined {
		for _, r := range d.ranks.Receptacles(ref) {
			d.cables.Used(r)
		}
	}
}

// deviceReadWithin bounds the reading of RDMA devices of which one may be stuck.
const deviceReadWithin = time.Second

// deviceRefusal says why the RDMA device of a receptacle that may be stuck cannot be
// lent: its port is read anew.
func (d *daemon) deviceRefusal(ctx context.Context, receptacles []api.Receptacle) (reason api.Reason, on string) {
	if !d.cables.AreSuspect(receptacles) {
		return "", ""
	}
	d.facts.Reread(native.AreaRDMA)
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, deviceReadWithin, "the RDMA devices")
	defer cancel()
	now, err := d.platform.Facts.Snapshot(ctx, native.AreaThunderbolt, native.AreaRDMA)
	if err != nil {
		return "", "" // what cannot be read refuses nothing
	}
	return health.DeviceRefusal(now, receptacles)
}

// jobOf is the document of a job that counts.
func (d *daemon) jobOf(id api.JobID) (api.Job, bool) {
	known, found := d.jobs.Known(id)
	return known.Job, found && !known.Gone
}

// specOf is the spec of a job, which was verified, and the document that counts.
func (d *daemon) specOf(id api.JobID) (api.JobSpec, api.Job, bool) {
	known, found := d.jobs.Known(id)
	return known.Spec, known.Job, found && !known.Gone
}

// known is what is known of a job that counts.
func (d *daemon) known(id api.JobID) (gate.Known, bool) {
	known, found := d.jobs.Known(id)
	return known, found && !known.Gone
}

// channels carries JACCL's side channels for the ranks.
type channels struct{ *sidechannel.Channels }

// Open is the ranks'.
func (c channels) Open(channel rank.Channel) (netip.AddrPort, error) {
	return c.Channels.Open(sidechannel.Channel(channel))
}

// openChannels makes what carries JACCL's side channels. Ports of the loopback are
// handed out from one table, whoever needs them: nobody else on this node gets one
// that a rank was given.
func (d *daemon) openChannels() {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	d.channels = sidechannel.New(sidechannel.Config{
		Peers: d.peers, Machine: sidechannel.Loopback{Processes: d.platform.Processes},
		Take:   func(port int) bool { return d.ranks.TakePort(netip.AddrPortFrom(loopback, uint16(port))) },
		Return: func(port int) { d.ranks.ReturnPort(netip.AddrPortFrom(loopback, uint16(port))) },
		Group:  d.groupOf,
		Tell:   d.handshake,
		Fail:   d.failRank,
		Name:   d.shortNameOf, Account: server.UserName, Clock: d.platform.Clock, Log: d.logs.Part("relay"),
	})
	d.onClose(func() error { d.channels.Shut(); return nil })
}

// groupOf is the process group of a rank's program, of a job or of a test.
func (d *daemon) groupOf(ref api.RankRef) int {
	if pid, isTest := d.prober.Group(ref); isTest {
		return pid
	}
	return d.ranks.PID(ref)
}

// failRank ends a rank.
func (d *daemon) failRank(ref api.RankRef, why *api.Error) {
	if !d.prober.Fail(ref, why) {
		d.ranks.Fail(ref, why)
	}
}

// openPublisher makes what publishes ports.
func (d *daemon) openPublisher() {
	c := relay.PublisherConfig{
		Config: relay.Config{Peers: d.peers, Processes: d.platform.Processes, Clock: d.platform.Clock, Log: d.logs.Part("relay")},
		Ledger: d.ledger, Ranks: d.ranks, Job: d.known, Seed: d.identity.Key().Seed(),
	}
	if d.platform.Simulated {
		c.Loopback = []netip.Addr{simulate.StandIn("loopback", d.identity.Node)}
		c.LAN = func() []netip.Addr { return []netip.Addr{simulate.StandIn("network", d.identity.Node)} }
	}
	d.publisher = relay.NewPublisher(c)
	d.onClose(func() error { d.publisher.Shut(); return nil })
}
