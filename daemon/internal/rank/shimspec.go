package rank

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	shimLog    = "shim.log"     // in a rank's folder: what the shim has to say itself
	hostsFile  = "hosts.json"   // in a rank's runtime folder, for its account
	deviceFile = "devices.json" // likewise
	sharesFile = "shares.json"  // likewise
	beatFile   = "heartbeat"    // likewise, to be touched

	prepareLogBytes = 1 << 20
	// logHeadBytes and logTailBytes are what is kept of each stream.
	logHeadBytes = 16 << 20
	logTailBytes = 48 << 20
)

func socketIn(runtime string) string { return filepath.Join(runtime, "s") }

// shimSpec makes what the shim runs, and the runtime folder for it.
func (r *Ranks) shimSpec(h *held, w wanted, resolved prepare.Resolved) (shimproto.Spec, error) {
	runtime := filepath.Dir(h.Socket)
	if n := len(shim.InputSocket(h.Socket)); n > shimproto.MaxSocketPath {
		return shimproto.Spec{}, fmt.Errorf("%s: %d bytes is more than the %d that a socket's path can have", h.Socket, n, shimproto.MaxSocketPath)
	}
	// What a rank of the same name left, before its job was deleted.
	if err := errors.Join(os.RemoveAll(runtime), makeFolder(runtime)); err != nil {
		return shimproto.Spec{}, err
	}
	by, err := r.join(w, runtime)
	if err != nil {
		return shimproto.Spec{}, err
	}
	if h.HeartbeatS > 0 {
		by.heartbeat = filepath.Join(runtime, beatFile)
		if err := makeHeartbeat(w.account, by.heartbeat); err != nil {
			return shimproto.Spec{}, err
		}
	}
	spec := shimproto.Spec{
		Ref: shimRef(w.Rank), Epoch: int64(w.Epoch), SpecHash: w.from.SpecSHA256(),
		Program: resolved.Program, Args: resolved.Args, Env: environment(resolved.Env, w, by), Dir: resolved.Dir,
		Stdin: shimproto.StdinNone, Socket: h.Socket, Folder: h.folder, GraceS: h.GraceS,
		LogHeadBytes: logHeadBytes, LogTailBytes: logTailBytes,
	}
	if target := w.spec.Program.Stdin; target == api.StdinAll || target == api.StdinRank0 && w.Rank.Rank == 0 {
		spec.Stdin = shimproto.StdinSocket
	}
	if w.spec.Program.Terminal && w.Rank.Rank == 0 {
		spec.Stdin = shimproto.StdinSocket
		spec.Terminal = &shimproto.Terminal{Rows: 24, Columns: 80} // until its client says how large its own is
	}
	if os.Geteuid() == 0 {
		spec.User = &shimproto.User{Name: w.account.Name, UID: w.account.UID, GID: w.account.GID, Groups: w.account.Groups}
	}
	return spec, nil
}

// unit is the shim as the supervisor runs it.
func (r *Ranks) unit(h *held, spec shimproto.Spec) native.Unit {
	unit := native.Unit{
		Label: h.Label, Program: r.cfg.Program, Args: []string{"shim", h.folder},
		Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"},
		Dir: "/", Socket: h.Socket, TakesSocket: true, ErrorLog: filepath.Join(h.folder, shimLog),
	}
	if r.cfg.ShimAsAccount && spec.User != nil {
		unit.User = &native.Account{Name: spec.User.Name, UID: spec.User.UID, GID: spec.User.GID}
	}
	return unit
}

func shimRef(ref api.RankRef) shimproto.Ref {
	return shimproto.Ref{Job: string(ref.Job), Attempt: ref.Attempt, Rank: ref.Rank}
}

// join makes ready what the program of a rank finds its group by; a rank alone
// needs nothing. The side channel comes last: its port is found free just before
// the program is started.
func (r *Ranks) join(w wanted, runtime string) (by joint, err error) {
	if shares := w.Plan.Shares(); shares != nil {
		by.shares = filepath.Join(runtime, sharesFile)
		if err := writeFor(w.account, by.shares, shares); err != nil {
			return by, err
		}
	}
	switch {
	case joins(w.Plan):
		by.devices = filepath.Join(runtime, deviceFile)
		if err := writeFor(w.account, by.devices, api.DeviceRows(w.Plan.Devices)); err != nil {
			return by, err
		}
		coordinator, err := r.openChannel(w)
		if err != nil {
			return by, err
		}
		by.coordinator, by.ring = coordinator.String(), w.Plan.Shape == api.ShapeRing
	case len(w.Plan.Ranks) > 1:
		by.hosts = filepath.Join(runtime, hostsFile)
		return by, writeFor(w.account, by.hosts, w.Plan.Hosts)
	}
	return by, nil
}

// writeFor writes a file that only the account can read.
func writeFor(account prepare.Account, path string, content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o400); err != nil {
		return err
	}
	return giveTo(account, path)
}

// giveTo makes a file the account's.
func giveTo(account prepare.Account, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(account.UID), int(account.GID))
}

// capped writes what fits and drops the rest.
type capped struct {
	file *os.File
	left int
}

var _ io.Writer = (*capped)(nil)

// Write takes everything and keeps what fits.
func (c *capped) Write(p []byte) (int, error) {
	keep := p[:min(len(p), c.left)]
	c.left -= len(keep)
	if _, err := c.file.Write(keep); err != nil {
		c.left = 0 // a full disk is no reason to end what prints
	}
	return len(p), nil
}

// joint is how a rank's program finds the others of its group: by a ring's host
// file, or by JACCL's matrix of devices and its side channel; and how it divides the work.
type joint struct {
	shares      string
	heartbeat   string
	hosts       string
	devices     string
	coordinator string
	ring        bool // JACCL is to make a ring of what may be a mesh too
}

// environment is the program's: what was resolved, without what a launcher
// sets, and with this rank's own.
func environment(resolved []string, w wanted, by joint) []string {
	env := make([]string, 0, len(resolved)+8)
	for _, pair := range resolved {
		if name, _, _ := strings.Cut(pair, "="); !launchers(name) {
			env = append(env, pair)
		}
	}
	hasTerminal := w.spec.Program.Terminal && w.Rank.Rank == 0
	if hasTerminal && !slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "TERM=") }) {
		env = append(env, "TERM=xterm-256color")
	}
	number := strconv.Itoa(w.Rank.Rank)
	env = append(env,
		api.EnvJob+"="+string(w.Rank.Job), api.EnvRank+"="+number, api.EnvWorldSize+"="+strconv.Itoa(len(w.Plan.Ranks)),
		api.EnvMLXRank+"="+number,
	)
	if by.shares != "" {
		env = append(env, api.EnvShare+"="+strconv.FormatFloat(w.planned.ShareRatio, 'f', -1, 64), api.EnvSharesFile+"="+by.shares)
	}
	if w.model.Path != "" {
		env = append(env, api.EnvModel+"="+w.model.Path, api.EnvSharding+"="+string(w.spec.Sharding))
	}
	for _, set := range []struct {
		name, value string
	}{{api.EnvHeartbeat, by.heartbeat}, {api.EnvModelRevision, w.model.Revision}, {api.EnvMLXHostfile, by.hosts}, {api.EnvMLXDevices, by.devices}, {api.EnvMLXCoordinator, by.coordinator}} {
		if set.value != "" {
			env = append(env, set.name+"="+set.value)
		}
	}
	if by.ring { // any value means a ring, so it is set only where one is meant
		env = append(env, api.EnvMLXRing+"=1")
	}
	return env
}

// launchers reports whether a variable is one that a launcher of ranks sets: one
// that was inherited would join the program to another group.
func launchers(name string) bool {
	switch name {
	case api.EnvJob, api.EnvRank, api.EnvWorldSize, api.EnvShare, api.EnvSharesFile, api.EnvHeartbeat, api.EnvModel, api.EnvModelRevision, api.EnvSharding, api.EnvMLXRank, api.EnvMLXHostfile, api.EnvMLXDevices:
		return true
	}
	return strings.HasPrefix(name, api.EnvJACCLPrefix) || strings.HasPrefix(name, jacclOfMLX)
}

// jacclOfMLX begins MLX's own names of JACCL's variables.
const jacclOfMLX = "MLX_JACCL"

// SetPorts says on which of its published ports a rank's program listens now, in
// ascending order. Of a rank that has ended it is not noted.
func (r *Ranks) SetPorts(ref api.RankRef, ports []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[ref]
	if h == nil || h.Doc.Phase.Ended() || slices.Equal(h.Doc.Ports, ports) {
		return
	}
	h.Doc.Ports = slices.Clone(ports)
	r.reportLocked(ref)
}

// SetReady says since when what a rank serves is ready, or why it is not. Of a rank that has
// ended it is not noted.
func (r *Ranks) SetReady(ref api.RankRef, isReady bool, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[ref]
	if h == nil || h.Doc.Phase.Ended() || isReady && !h.Doc.ReadyAt.IsZero() || !isReady && h.Doc.NotReady == why {
		return
	}
	h.Doc.ReadyAt, h.Doc.NotReady = api.Time{}, why
	if isReady {
		h.Doc.ReadyAt, h.Doc.NotReady = r.now(), ""
	}
	r.reportLocked(ref)
}

// SetIdle says since when nothing is asked of what a rank serves, as far as this node
// carries it; zero while something is.
func (r *Ranks) SetIdle(ref api.RankRef, since api.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil && !h.Doc.Phase.Ended() && h.Doc.IdleSince != since {
		h.Doc.IdleSince = since
		r.reportLocked(ref)
	}
}

// TakePort takes an address out of the node's table of ports, unless somebody has
// it or has had it lately.
func (r *Ranks) TakePort(a netip.AddrPort) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until, known := r.ports[a]; known && until > r.cfg.Clock.Boot() {
		return false
	}
	r.ports[a] = forGood
	return true
}

// ReturnPort gives back a port that was handed out.
func (r *Ranks) ReturnPort(a netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ports[a] = r.cfg.Clock.Boot() + portRest
}

// forGood is a time on Boot that never comes.
const forGood = time.Duration(math.MaxInt64)

// PortNumbers gives the receptacles whose RDMA device a rank of this node was granted,
// also where it has ended.
func (r *Ranks) PortNumbers(ref api.RankRef) []api.PortNumber {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil {
		return slices.Clone(h.Plan.PortNumbers)
	}
	return nil
}

// PID is the process id of a rank's program, which is its process group too; 0
// where none runs here.
func (r *Ranks) PID(ref api.RankRef) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil && !h.Doc.Phase.Ended() {
		return h.Doc.PID
	}
	return 0
}

// IsHere reports whether a rank lives on this node.
func (r *Ranks) IsHere(ref api.RankRef) bool {
	_, _, _, isHere := r.Folder(ref)
	return isHere
}

// LiveRefs lists the ranks that have not ended.
func (r *Ranks) LiveRefs() []api.RankRef {
	var all []api.RankRef
	for _, live := range r.Live() {
		all = append(all, live.Rank)
	}
	return all
}

// Shim is where the shim of a rank that has not ended listens, and the epoch that it
// answers to.
func (r *Ranks) Shim(ref api.RankRef) (socket string, epoch uint64, runs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil && !h.Doc.Phase.Ended() {
		return h.Socket, r.fenceLocked(ref.Job).Epoch, true
	}
	return "", 0, false
}
