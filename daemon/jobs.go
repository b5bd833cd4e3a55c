package daemon

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/endpoint"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/grant/lend"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/job/attach"
	"fulmen/daemon/internal/job/beat"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/placement"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/rank"
	"fulmen/daemon/internal/rank/input"
	"fulmen/daemon/internal/rank/output"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/relay"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/simulate"
	"fulmen/daemon/internal/topology"
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
		Peers: d.peers, Policy: d.sharing, Sharing: d.policy.Sharing, IsChanging: func() bool { return d.rdma.Changing() },
		Device: d.deviceRefused, Obstacle: d.obstacle, Ranks: func() []api.RankRef { return d.ranks.LiveRefs() },
		Job:     func(id api.JobID) (api.JobSpec, bool) { known, found := d.jobs.Current(id); return known.Spec, found },
		GPUWait: func() time.Duration { return d.live.Current().Times.GPUWait }, Lease: d.live.Current().Times.Lease,
		Name: d.nodes.Name, Log: d.logs.Part("grant"),
	})
	d.onClose(func() error { d.grants.Close(); return nil })
	d.openChannels()
	d.preparer = prepare.New(prepare.Config{
		Shim: d.shim, Check: d.trust.Check, Worker: d.worker, State: d.folders.State, OwnUID: uint32(os.Getuid()),
		Clock: d.platform.Clock, Log: d.logs.Part("rank"),
	})
	d.models = model.New(model.Config{
		Self: rank.RunByAnybody(d.program), Account: d.accountOf, Environment: d.preparer.Environment, Peers: d.peers,
		Plans:   func() map[api.JobID]api.Plan { return d.jobs.Plans() },
		Sharing: d.lent,
		Reads: func(who api.Principal) (of prepare.Account, isPublic bool, err error) {
			name, reason := d.policy.MayRead(who)
			if name == "" && reason == "" {
				return of, true, nil
			}
			of, err = d.account(who, name, reason)
			return of, false, err
		},
		Named: func(name string) (prepare.Account, error) {
			if _, err := policy.SystemBounds().Check(policy.SystemAccounts{}, name); err != nil {
				return prepare.Account{}, err
			}
			return d.preparer.Account(name)
		}, Public: d.records.PublicModels(),
		IsSlow: func(node api.NodeID) bool {
			graph, _ := d.graph.Latest()
			return graph.IsSlow(d.identity.Node, node)
		},
		Ways: func(node api.NodeID) (ways []model.Way) {
			graph, _ := d.graph.Latest()
			live, beside := graph.Between(d.identity.Node, node)
			for _, p := range live {
				isBeside := slices.ContainsFunc(beside, func(b topology.Path) bool { return b.Address == p.Address })
				ways = append(ways, model.Way{At: p.Address, Kind: p.Kind, IsBeside: isBeside})
			}
			return ways
		},
		Folders: func() []string { return d.live.Current().Models.Folders }, HubCache: func() string { return d.live.Current().Models.HubCache }, Python: func() string { return d.live.Current().Models.Python }, Clock: d.platform.Clock, Log: d.logs.Part("model"),
	})
	d.onClose(d.models.Close)
	d.programs = prepare.NewPrograms(prepare.ProgramsConfig{
		Node: d.identity.Node, Clock: d.platform.Clock, Ledger: d.ledger, Peers: d.peers, Policy: d.sharing, Preparer: d.preparer, Model: d.models.Show,
		CopyModel: func(ctx context.Context, who api.Principal, from api.NodeID, sel api.ModelSelect) (prepare.ModelCopy, error) {
			return d.models.Copy(ctx, who, from, sel, false)
		},
		Self: rank.RunByAnybody(d.program), Users: func() []api.MappedUser { return d.policy.Users(true).Users }, Job: func(id api.JobID) (gate.Known, bool) { return d.jobs.Current(id) }, Name: d.nodes.Name, Log: d.logs.Part("rank"),
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
	awake := lifecycle.NewAwake(d.platform.Clock, d.platform.Power.KeepAwake, func() bool { return slices.ContainsFunc(d.ranks.LiveRefs(), d.jobs.KeepsAwake) }, d.logs.Part("rank"))
	d.onClose(awake.Close)
	d.output = health.NewOutput(d.conditions, d.platform.Clock.Now)
	d.ranks = rank.New(rank.Config{
		Node: d.identity.Node, Name: d.nodes.Name, Cluster: d.roster.Cluster, Clock: d.platform.Clock, Peers: d.peers,
		Jobs: d.ledger, Deleted: func(id api.JobID) bool { return d.jobs.Deleted(id) }, Documents: d.owner("rank", api.KindRank), Grants: d.grants, RestoreGrant: func(held api.PeerGrantParams, lease time.Duration) error {
			request, err := grant.RequestOf(held)
			if err != nil {
				return err
			}
			request.Lease = lease
			return d.grants.Restore(request)
		},
		Policy: d.sharing, Preparer: d.preparer, Fetch: d.programs.Fetch, Model: d.programs.Model, FetchModel: d.programs.FetchModel, Supervisor: d.platform.Supervisor, ShimAsAccount: shimsAreAccounts,
		Program: d.shim, Folder: d.folders.JobsFolder(), Runtime: ranks, Listen: listen,
		Times: func(spec api.JobSpec) rank.Times {
			of := phase.RulesOf(spec, times())
			return rank.Times{Preparing: of.Preparing, Starting: of.Starting, Handshake: of.Handshake, Grace: of.Grace, FailedGrace: of.FailedGrace}
		},
		Channels: d.channels, Carried: d.platform.RDMACarried, Activity: d.platform.Processes.Activity, GPUUse: d.platform.GPUUse, Stacks: d.platform.Stacks,
		Spawned: func(ref api.RankRef) { d.channels.Spawned(ref); d.publisher.Spawned(ref) }, Ended: d.rankEnded, OutputLost: d.output.Lost, Changed: awake.Changed, Log: d.logs.Part("rank"),
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
	input.New(input.Config{Peers: d.peers, Clock: d.platform.Clock, Shim: d.ranks.Shim, Ended: d.ranks.Ended})
	documents := d.owner("job", api.KindJob)
	documents.Settled = true
	d.jobs, err = job.New(job.Config{
		Node: d.identity.Node, Key: d.identity.Key(), Electors: d.roster, Roster: d.roster.Heads, Memory: d.records, Clock: d.platform.Clock,
		Peers: d.peers, Ledger: d.ledger, Documents: documents, Settle: d.behind.Flush, Presence: d.node, Access: d.sharing, Beats: beats{d.node},
		GetModel: d.programs.GetModel, Sharing: d.lent, UseChanged: awake.Changed,
		Planner: &view.Planner{
			Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Members: d.roster.Members, Asked: func() { d.asking.Ask() },
			Trusted: d.trusted,
		}, Cables: d.graph.CablesNow,
		Unfit: func(plan api.Plan, mlx map[api.NodeID]api.ProgramMLX) (faults, notes []api.Cause) {
			return placement.Unfit(plan, mlx, d.nodes.Name)
		},
		Compare: func(answers []api.Preflight, allowMixed bool) []api.Cause {
			return prepare.Compare(answers, allowMixed, d.nodes.Name)
		}, Name: d.nodes.Name, Find: d.nodes.Find, Forget: d.ranks.ForgetJob, Bind: d.ranks.Bind, Quiet: func(ctx context.Context, rank api.RankRef) { d.publisher.Quiet(ctx, rank) }, Times: times,
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
		Clock: d.platform.Clock, Peers: d.peers, Ledger: d.ledger, Counts: d.jobs.Counts, May: d.sharing.May, Name: d.nodes.Name, Lost: func(id api.JobID, why *api.Error) { d.watchedJobs.InputLost(id, why) }, Log: d.logs.Part("job"),
	})
	d.onClose(func() error { d.attach.Close(); return nil })
	d.watchedJobs = job.NewWatchedJobs(d.jobs)
	return nil
}

// lent is what a node lends, as it publishes it.
func (d *daemon) lent(node api.NodeID) (api.Sharing, bool) {
	return ledger.Read[api.Sharing](d.ledger, api.Key{Node: node, Kind: api.KindSharing})
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
	d.departure.EndFormer(removed, func(id api.JobID) (api.Principal, bool) {
		known, found := d.jobs.Current(id)
		return known.Spec.Principal, found
	})
}

// beats carries beats between the nodes of jobs.
type beats struct{ *node.Node }

// Send implements beat.Link.
func (b beats) Send(to api.NodeID) error { return b.Node.Beat(to) }

// Receive implements beat.Link.
func (b beats) Receive(f func(from api.NodeID)) { b.Node.Beats(f) }

// rankEnded hears of every rank of this node that has ended.
func (d *daemon) rankEnded(rank api.Rank) {
	d.publisher.Ended(rank)
	d.output.Ended(rank)
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	portNumbers := d.ranks.PortNumbers(ref)
	if len(portNumbers) == 0 {
		return
	}
	d.cables.RankEnded(rank, portNumbers)
	d.facts.Reread(native.AreaRDMA) // before somebody else gets them
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
		Group: func(ref api.RankRef) int {
			if pid, isTest := d.prober.Group(ref); isTest {
				return pid
			}
			return d.ranks.PID(ref)
		},
		Notify: func(ref api.RankRef, now api.Handshake) {
			if d.prober.Notify(ref, now) {
				return
			}
			d.ranks.SetHandshake(ref, now)
			if now.State == api.HandshakeJoined {
				for _, r := range d.ranks.PortNumbers(ref) {
					d.cables.Used(r)
				}
			}
		},
		Fail: func(ref api.RankRef, why *api.Error) {
			if !d.prober.Fail(ref, why) {
				d.ranks.Fail(ref, why)
			}
		},
		Name: d.nodes.Name, Account: server.UserName, Clock: d.platform.Clock, Log: d.logs.Part("relay"),
	})
	d.onClose(func() error { d.channels.Shut(); return nil })
}

// openPublisher makes what publishes ports.
func (d *daemon) openPublisher() {
	c := relay.Config{
		Peers: d.peers, Processes: d.platform.Processes, Clock: d.platform.Clock, Log: d.logs.Part("relay"),
		Ledger: d.ledger, Ranks: d.ranks, Job: func(id api.JobID) (gate.Known, bool) { return d.jobs.Current(id) }, Seed: d.identity.Key().Seed(),
	}
	if d.platform.Simulated {
		c.Loopback = []netip.Addr{simulate.StandIn("loopback", d.identity.Node)}
		c.LAN = func() []netip.Addr { return []netip.Addr{simulate.StandIn("network", d.identity.Node)} }
	}
	d.publisher = relay.New(c)
	d.onClose(func() error { d.publisher.Shut(); return nil })
}

// openEndpoint makes what answers for all services, and opens its port.
func (d *daemon) openEndpoint() (net.Listener, error) {
	current := d.live.Current().Endpoint
	host := "127.0.0.1"
	if len(current.Networks) > 0 {
		host = ""
	}
	l, err := server.ListenAt(host, current.Port)
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	d.entrance = fmt.Sprintf("http://127.0.0.1:%d/v1", port)
	if current.Port != 0 && port != current.Port {
		d.logs.Part("endpoint").Warn("the endpoint's port is held by another program, and the next one is used", "port", current.Port, "used", port)
	}
	d.endpoint = endpoint.New(endpoint.Config{
		Node: d.identity.Node, Job: d.jobs.Asked, IsAwake: d.isAwake, May: d.sharing.May, Dial: d.publisher.Dial, Owner: d.platform.Processes.Owner, UserName: server.UserName,
		Key: func(text string) (uint32, error) {
			record, err := d.tokens.CheckKey(text)
			return record.UID, err
		}, Settings: func() endpoint.Settings {
			current := d.live.Current().Endpoint
			return endpoint.Settings{Networks: current.Networks, Hosts: current.Hosts, Origins: current.Origins, Wait: current.Wait}
		}, Clock: d.platform.Clock, Log: d.logs.Part("endpoint"),
	})
	return l, nil
}

// isAwake reports whether a node does not say that it sleeps, stops or leaves.
func (d *daemon) isAwake(node api.NodeID) bool {
	state, known := ledger.Read[api.NodeState](d.ledger, api.Key{Node: node, Kind: api.KindNodeState})
	return !known || state.State == api.SelfAwake
}

// deviceRefused says why RDMA devices that may be stuck cannot be used.
func (d *daemon) deviceRefused(ctx context.Context, portNumbers []api.PortNumber) (why api.Reason, on string) {
	return d.cables.Refusal(ctx, d.platform.Facts, func() { d.facts.Reread(native.AreaRDMA) }, portNumbers)
}

// obstacle says why nothing should be measured on this node now.
func (d *daemon) obstacle(ctx context.Context) *api.Error {
	return profile.Obstacle(ctx, d.platform.Clock, d.platform.Facts, d.nodes.Name(d.identity.Node), d.identity.Node)
}

// trusted are the networks that carry jobs unencrypted although no job names them.
func (d *daemon) trusted() []netip.Prefix { return d.live.Current().Network.Trusted }

// accountOf is the account as which the jobs of somebody of this Mac run here.
func (d *daemon) accountOf(who api.Principal) (prepare.Account, error) {
	name, reason := d.policy.Allows(who, policy.Circumstances{})
	return d.account(who, name, reason)
}

// account finds the account that a policy names for somebody, unless it says why there is none.
func (d *daemon) account(who api.Principal, name string, reason api.Reason) (prepare.Account, error) {
	if reason != "" {
		return prepare.Account{}, api.NewError(reason, who.String())
	}
	return d.preparer.Account(name)
}
