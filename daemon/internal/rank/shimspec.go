package rank

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
	spec := shimproto.Spec{
		Ref: shimRef(w.ref), Epoch: int64(w.epoch), SpecHash: w.sha256,
		Program: resolved.Program, Args: resolved.Args, Env: environment(resolved.Env, w, by), Dir: resolved.Dir,
		Stdin: shimproto.StdinNone, Socket: h.Socket, Folder: h.folder, GraceS: h.GraceS,
		LogHeadBytes: logHeadBytes, LogTailBytes: logTailBytes,
	}
	if target := w.spec.Program.Stdin; target == api.StdinAll || target == api.StdinRank0 && w.ref.Rank == 0 {
		spec.Stdin = shimproto.StdinSocket
	}
	if w.spec.Program.Terminal && w.ref.Rank == 0 {
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
	switch {
	case joins(w.plan):
		by.devices = filepath.Join(runtime, deviceFile)
		if err := writeFor(w.account, by.devices, w.plan.Devices); err != nil {
			return by, err
		}
		coordinator, err := r.openChannel(w)
		if err != nil {
			return by, err
		}
		by.coordinator, by.ring = coordinator.String(), w.plan.Shape == api.ShapeRing
	case len(w.plan.Ranks) > 1:
		by.hosts = filepath.Join(runtime, hostsFile)
		return by, writeFor(w.account, by.hosts, w.plan.Hosts)
	}
	return by, nil
}

// writeFor writes a file for an account's eyes.
func writeFor(account prepare.Account, path string, content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o400); err != nil {
		return err
	}
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
