package rank

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/native"
)

// start takes a rank on. It answers once all is checked and noted; what follows
// is told by the rank's document. The same request again gets the same answer.
func (r *Ranks) start(_ context.Context, home gate.Home, p api.PeerStartParams) (any, error) {
	if err := cmp.Or(checkCall(p.Rank.Job, p.Rank.Attempt, p.Epoch), checkLease(p.LeaseS)); err != nil {
		return nil, err
	}
	if !p.Rank.Valid() {
		return nil, api.NewError(api.ReasonMalformedID, p.Rank.String())
	}
	if known, err := r.mayStart(p.Rank, home); known || err != nil {
		return api.Empty{}, err
	}
	w, err := r.check(home, p)
	if err != nil {
		return nil, err
	}
	folder := r.rankFolder(w.Rank)
	if err := errors.Join(makeFolder(r.jobFolder(w.Rank.Job)), makeFolder(filepath.Dir(folder)), makeFolder(folder)); err != nil {
		return nil, api.Errorf(api.ReasonSpawnFailed, w.Rank.String(), "The rank's folder cannot be made%s.", native.ErrnoSuffix(err)).From(err)
	}
	h, err := r.accept(w)
	if h == nil || err != nil {
		return api.Empty{}, err
	}
	r.cfg.Changed()
	return api.Empty{}, nil
}

// mayStart refuses a rank that must not be started, and reports whether it was
// taken on before.
func (r *Ranks) mayStart(ref api.RankRef, home gate.Home) (known bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mayStartLocked(ref, home)
}

func (r *Ranks) mayStartLocked(ref api.RankRef, home gate.Home) (known bool, err error) {
	if err := r.admitLocked(ref.Job, home); err != nil {
		return false, err
	}
	h, f, epoch := r.held[ref], r.fenceLocked(ref.Job), home.Epoch()
	switch {
	case h != nil && h.Doc.Epoch == epoch:
		return true, nil
	case h != nil:
		return false, api.Errorf(api.ReasonStaleEpoch, ref.String(), "The rank was started under epoch %d; a new home starts a new attempt.", h.Doc.Epoch)
	case f.endedLocked(ref):
		return false, api.Errorf(api.ReasonJobEnded, ref.String(), "The rank was ended before it was started.")
	case ref.Attempt > f.Attempt && f.Starts >= maxStarts(home.Spec()):
		return false, api.Errorf(api.ReasonRetriesSpent, ref.String(), "%d attempts were started here; the job's spec allows no more.", f.Starts)
	}
	for _, other := range r.ofJobLocked(ref.Job) {
		if other.Doc.Attempt != ref.Attempt && !other.Doc.Phase.Ended() {
			return false, api.Errorf(api.ReasonWaitingForRanks, other.ref().String(), "Rank %s has not ended here.", other.ref())
		}
	}
	return false, nil
}

// maxStarts is how many attempts of a job a node starts at most, whatever its home
// says: as many as may fail before all ranks join, once and after each retry.
func maxStarts(spec api.JobSpec) int {
	if spec.Kept || spec.OnStall == api.OnStallRestart {
		return math.MaxInt // its home counts those in a row
	}
	starts := api.DefaultStarts
	if spec.MaxAttempts > 0 {
		starts = spec.MaxAttempts
	}
	return starts * (1 + max(spec.Retries, 0))
}

// accept takes on a rank that was checked, nil where somebody else just did.
func (r *Ranks) accept(w wanted) (*held, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, api.NewError(api.ReasonStopping, string(r.cfg.Node))
	}
	if known, err := r.mayStartLocked(w.Rank, w.from); known || err != nil {
		return nil, err
	}
	rec := record{
		Doc: api.Rank{
			Job: w.Rank.Job, Attempt: w.Rank.Attempt, Rank: w.Rank.Rank, Epoch: w.Epoch, SpecSHA256: w.from.SpecSHA256(),
			Phase: api.RankPreparing, PhaseSince: r.now(),
		},
		Principal: w.spec.Principal, Home: w.from.Node(), Account: w.account.Name, Plan: w.planned, Output: w.spec.Output,
		Label: r.labelOf(w.Rank), Socket: socketIn(r.runtimeFolder(w.Rank)), LeaseS: w.LeaseS, GraceS: r.cfg.Times(w.spec).Grace.Seconds(),
		Before: w.Rank.Rank - w.Plan.Lead(w.Rank.Rank),
	}
	if !r.cfg.Grants.Occupy(rec.grant(), w.Epoch) {
		return nil, api.Errorf(api.ReasonGrantRefused, w.Rank.String(), "The grant of rank %d is gone: the daemon was restarted since, or nobody renewed it.", w.Rank.Rank)
	}
	rec.Alone = len(w.Plan.Ranks) == 1
	if most := w.spec.Deadlines.HeartbeatS; most != nil {
		rec.HeartbeatS = *most
	}
	if joins(w.Plan) && !w.spec.AllowSolo {
		rec.Doc.Handshake = &api.Handshake{State: api.HandshakeNone}
	}
	rec.Made = r.made + 1 // add counts it
	h := r.addLocked(rec, r.rankFolder(w.Rank))
	h.lease = r.cfg.Clock.Boot() + api.Seconds(w.LeaseS)
	ctx, cancel := context.WithCancel(r.ctx)
	h.giveUp = cancel
	if w.Wait {
		r.waitsForLocked(h, w)
	}
	r.fenceLocked(w.Rank.Job).attempt(w.Rank.Attempt)
	for _, old := range r.ofJobLocked(w.Rank.Job) {
		if old.Doc.Attempt < w.Rank.Attempt && !old.hidden {
			old.hidden = true
			r.reportLocked(old.ref())
		}
	}
	r.reportLocked(w.Rank)
	r.work.Go(func() {
		defer cancel()
		r.live(ctx, h, w)
	})
	return h, nil
}

// wanted is a rank that this node has been asked to start, and has checked.
type wanted struct {
	api.PeerStartParams
	from    gate.Home
	spec    api.JobSpec
	planned api.PlanRank
	account prepare.Account
	model   api.FoundModel // here, once it was looked for
}

// check takes nobody's word: not the home's for the plan and the variables, not the
// cluster's for the account. That it is the home of this spec is proven.
func (r *Ranks) check(home gate.Home, p api.PeerStartParams) (w wanted, err error) {
	spec := home.Spec()
	w = wanted{PeerStartParams: p, from: home, spec: spec}
	if w.planned, err = r.checkPlan(w); err != nil {
		return wanted{}, err
	}
	for name := range p.Environment {
		if !slices.Contains(spec.Program.Variables, name) {
			return wanted{}, api.Errorf(api.ReasonBadValue, name, "The spec does not pass the variable %s.", name)
		}
	}
	if w.account, err = r.checkAccount(spec.Principal); err != nil {
		return wanted{}, err
	}
	return w, nil
}

// checkPlan checks that the plan is of this spec and puts the rank here.
func (r *Ranks) checkPlan(w wanted) (api.PlanRank, error) {
	bad := func(format string, args ...any) (api.PlanRank, error) {
		return api.PlanRank{}, api.Errorf(api.ReasonBadValue, "plan", format, args...)
	}
	if w.Plan.SpecSHA256 != w.from.SpecSHA256() {
		return bad("The plan was made for another spec.")
	}
	if w.Rank.Rank >= len(w.Plan.Ranks) {
		return bad("The plan has %d ranks, and no rank %d.", len(w.Plan.Ranks), w.Rank.Rank)
	}
	planned := w.Plan.Grant(w.Rank.Rank)
	if planned.Rank != w.Rank.Rank || planned.Node != r.cfg.Node {
		return bad("The plan puts rank %d on %s, and not on this node.", planned.Rank, planned.Node)
	}
	here := 0
	for _, other := range w.Plan.Ranks {
		if other.Node == planned.Node {
			here++
		}
	}
	if most := min(w.spec.Placement.PerNode(), api.MaxRanksPerNode); here > most {
		return bad("The plan puts %d ranks on this node, and the spec %d.", here, most)
	}
	if w.spec.Placement.ShareBy != "" {
		sum := 0.0
		for _, share := range w.Plan.Shares() {
			sum += share
		}
		if len(w.Plan.Shares()) != len(w.Plan.Ranks) || math.Abs(sum-1) > 1e-9 {
			return bad("The shares of the plan's ranks do not add up to 1.")
		}
	}
	if from := planned.ModelFrom; from != "" && (!w.spec.FetchModel || !from.Valid() || from == r.cfg.Node) {
		return bad("The plan has rank %d copy its model from %s.", planned.Rank, from.Display())
	}
	if len(w.Plan.Ranks) < 2 {
		return planned, nil
	}
	if w.Plan.Backend.RDMA() {
		if err := checkDevices(w.Plan, r.cfg.Name); err != nil {
			return api.PlanRank{}, err
		}
		return planned, r.checkOwnDevices(w.Plan, w.Rank.Rank)
	}
	if len(w.Plan.Hosts) != len(w.Plan.Ranks) {
		return bad("The plan has addresses of %d ranks, and not of %d.", len(w.Plan.Hosts), len(w.Plan.Ranks))
	}
	for i, hosts := range w.Plan.Hosts {
		if len(hosts) == 0 {
			return bad("The plan has no address of rank %d.", i)
		}
		for _, host := range hosts {
			if a, err := netip.ParseAddrPort(host); err != nil || a.Port() == 0 {
				return bad("%.80q, of rank %d, is not an address with a port.", host, i)
			}
		}
	}
	return planned, nil
}

// checkDevices checks that JACCL takes the plan's matrix of devices: a row and a
// column for each rank, none on the diagonal, and every rank joined to every other
// or, in a ring, to both neighbours, by as many cables, each at a device of its own.
func checkDevices(plan api.Plan, name func(api.NodeID) string) error {
	size := len(plan.Ranks)
	bad := func(format string, args ...any) error {
		return api.Errorf(api.ReasonBadValue, "plan", format, args...)
	}
	if len(plan.Devices) != size {
		return bad("The plan has the devices of %d ranks, and not of %d.", len(plan.Devices), size)
	}
	for i, row := range plan.Devices {
		if len(row) != size {
			lacks := ""
			for j := len(row); j < size; j++ {
				if areJoined(plan, i, j) {
					lacks += ", " + strings.Join(cablesOf(plan, i, j, name), ", ")
				}
			}
			if lacks != "" {
				lacks = ": it has none for " + lacks[2:]
			}
			return bad("The plan has devices of rank %d (%s) for %d ranks, and not for %d%s.", i, name(plan.Ranks[i].Node), len(row), size, lacks)
		}
		for j, names := range row {
			next := areJoined(plan, i, j)
			cables := func() string { return strings.Join(cablesOf(plan, i, j, name), ", ") }
			switch {
			case i == j && names != nil:
				return bad("The plan joins rank %d (%s) to itself.", i, name(plan.Ranks[i].Node))
			case i == j:
			case (plan.Shape == api.ShapeMesh || plan.Shape == api.ShapeRing) && next && len(names) == 0:
				return bad("The plan does not join rank %d to rank %d: it has no device for %s.", i, j, cables())
			case next && len(names) != plan.Cables():
				return bad("The plan joins rank %d to rank %d by %d cables (%s), and rank 0 to rank 1 by %d.", i, j, len(names), cables(), len(plan.Devices[0][1]))
			}
			for k, device := range names {
				switch {
				case device == "":
					return bad("The plan has a device of rank %d without a name, for %s.", i, cableOf(plan, i, j, k, name))
				case slices.Contains(names[:k], device):
					return bad("The plan joins rank %d to rank %d by two cables at the same device, %s; the second is %s.", i, j, device, cableOf(plan, i, j, k, name))
				}
			}
		}
	}
	return nil
}

// areJoined reports whether two ranks have devices for each other: in a mesh all, else neighbours.
func areJoined(plan api.Plan, a, b int) bool {
	size := len(plan.Ranks)
	return a != b && (plan.Shape == api.ShapeMesh || b == (a+1)%size || a == (b+1)%size)
}

// cablesOf names the cables of two ranks in the order of their devices; the two Macs where
// the plan does not say which these are.
func cablesOf(plan api.Plan, a, b int, name func(api.NodeID) string) (cables []string) {
	end := func(e api.LinkEnd) string { return name(e.Node) + ":" + e.PortNumber.String() }
	for _, l := range plan.Links {
		if l.From == min(a, b) && l.To == max(a, b) && l.Link.Valid() {
			cables = append(cables, end(l.Link.Low)+" - "+end(l.Link.High))
		}
	}
	if len(cables) == 0 {
		return []string{"a cable of " + name(plan.Ranks[a].Node) + " and " + name(plan.Ranks[b].Node)}
	}
	return cables
}

// cableOf names the cable of the k-th device of a rank that leads to another.
func cableOf(plan api.Plan, rank, other, k int, name func(api.NodeID) string) string {
	cables := cablesOf(plan, rank, other, name)
	return cables[min(k, len(cables)-1)]
}

// checkOwnDevices checks that this node has each device that a rank here is to open. JACCL
// finds out once the others wait for it. A node that does not know its devices has any.
func (r *Ranks) checkOwnDevices(plan api.Plan, rank int) error {
	var own []string
	certain := false // that there is none where none is named
	for _, rec := range r.cfg.Jobs.List(ledger.Filter{Kinds: []api.Kind{api.KindRDMA}, Nodes: []api.NodeID{r.cfg.Node}}) {
		var port api.RDMA
		if rec.Decode(&port) != nil {
			return nil
		}
		why := rec.Document().Unknown["device"]
		switch {
		case port.Device != nil:
			own = append(own, port.Device.Name)
		case why == "" || why == api.ReasonRDMANoDevice:
			certain = true
		case why != api.ReasonSourceGone: // else another's device says that they could be read
			return nil
		}
	}
	if !certain && len(own) == 0 {
		return nil
	}
	for other, names := range plan.Devices[rank] {
		for k, device := range names {
			if !slices.Contains(own, device) {
				return api.Errorf(api.ReasonRDMANoDevice, device, "%s has no RDMA device %s, which the plan has for %s.",
					r.cfg.Name(r.cfg.Node), device, cableOf(plan, rank, other, k, r.cfg.Name)).WithRemedy("`fulmen rdma check` names what is missing.")
			}
		}
	}
	return nil
}

// checkAccount finds the account as which a principal's ranks run here.
func (r *Ranks) checkAccount(p api.Principal) (prepare.Account, error) {
	name, reason := r.cfg.Policy.Allows(p)
	if reason != "" {
		return prepare.Account{}, api.NewError(reason, p.String())
	}
	account, err := r.cfg.Preparer.Account(name)
	switch {
	case err != nil:
		return prepare.Account{}, err
	case account.UID == 0:
		return prepare.Account{}, api.NewError(api.ReasonAccountForbidden, p.String())
	case os.Geteuid() != 0 && int(account.UID) != os.Geteuid():
		return prepare.Account{}, api.Errorf(api.ReasonAccountForbidden, p.String(), "Fulmen does not run as root here, and starts programs as its own account alone.")
	}
	return account, nil
}
