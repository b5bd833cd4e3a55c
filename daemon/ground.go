package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/logs"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/storage"
	"fulmen/daemon/internal/store"
	"fulmen/daemon/internal/view"
	"fulmen/native"
	"fulmen/native/waker"
)

// openDeadline bounds the opening of the database, which another process can
// hold, and the first reading of the machine's identity.
const openDeadline = 10 * time.Second

// base is what every part of a daemon stands on: its folders and configuration, the
// system, the database, who this node is, and the ledger.
type base struct {
	options    Options
	started    time.Time
	closers    []func() error
	folders    home.Folders
	live       *config.Live
	logs       *logs.Logs
	platform   native.Platform
	program    string // this one
	shim       string
	worker     string
	trust      lifecycle.Trust
	database   *store.Store
	records    storage.Records
	damaged    chan error  // gets why, once, when the database turns out to be damaged
	changes    waker.Waker // the configuration or the disk may be otherwise
	identity   cluster.Identity
	moved      *cluster.Moved
	roster     *node.Holder
	audit      *audit.Log
	ledger     *ledger.Ledger
	writer     *ledger.Writer
	behind     *storage.Behind
	over       *health.Quota
	conditions *health.Health
}

// open opens it, in order. [lifecycle.ErrStaysStopped] says that nobody wants it to run.
func (d *base) open(ctx context.Context) error {
	for _, step := range []func(context.Context) error{d.findFolders, d.awaitStart, d.openFolders, d.openPlatform, d.openState, d.openLedger} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// onClose has something done at the end, the last opened first.
func (d *base) onClose(f func() error) { d.closers = append(d.closers, f) }

func (d *base) close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		if err := d.closers[i](); err != nil && d.logs != nil {
			d.logs.Part("daemon").Warn("closing", "error", err)
		}
	}
}

// findFolders finds the folders, before the configuration may move some of them.
func (d *base) findFolders(context.Context) error {
	folders, err := home.Resolve(d.options.environment())
	if err != nil {
		return err
	}
	d.folders = folders
	if err := folders.Create(); err != nil {
		return err
	}
	if folders.Logs == api.MacLogFolder && folders.CheckFile(folders.Logs) == nil {
		// Also for a daemon that launchd starts again and again, and that gets no further.
		_ = logs.RotateErrors(folders.Logs) // it is no reason not to run
	}
	return folders.Check()
}

// openFolders reads the configuration and locks the folders.
func (d *base) openFolders(context.Context) error {
	var err error
	d.live, err = config.Open(d.folders.ConfigFile(), config.Options{Trust: d.folders.CheckFile, Report: func(config.Status) { d.changes.Wake() }})
	if err != nil {
		return err
	}
	d.onClose(d.live.Close)
	current := d.live.Current()
	d.folders = d.folders.With(current.Paths.State, current.Paths.Logs)
	if err := errors.Join(d.folders.Create(), d.folders.Check()); err != nil {
		return err
	}
	lock, err := d.folders.Lock()
	if err != nil {
		return err
	}
	d.onClose(lock.Release)
	if simulation := d.options.Simulation; simulation != nil {
		// After the lock, which the socket's folder shares with a real daemon.
		if d.folders.State, err = simulation.Folder(d.folders.State); err != nil {
			return err
		}
		if err := errors.Join(d.folders.Create(), d.folders.Check()); err != nil {
			return err
		}
	}
	file, err := logs.OpenFile(d.folders.Logs, current.Limits.LogBytes)
	if err != nil {
		return home.Explain(err, "write", filepath.Join(d.folders.Logs, logs.File))
	}
	d.onClose(file.Close)
	out := io.Writer(file)
	if d.options.Log != nil {
		out = io.MultiWriter(file, d.options.Log)
	}
	d.logs = logs.New(out, current.Log)
	d.live.OnChange(func(next config.Config) { d.logs.Set(next.Log) })
	return nil
}

// openPlatform opens the system, and finds the worker.
func (d *base) openPlatform(context.Context) error {
	platform, err := d.options.Platform, error(nil)
	host := func() (native.Platform, error) { return systemPlatform(filepath.Join(d.folders.Runtime, "units")) }
	switch {
	case d.options.Simulation != nil:
		platform, err = d.options.Simulation.Platform(host)
	case platform.Name == "":
		platform, err = host()
	}
	if err != nil {
		return err
	}
	if platform, err = platform.Complete(); err != nil {
		return err
	}
	d.platform = platform
	d.onClose(platform.Close)
	if d.program, err = os.Executable(); err != nil {
		return err
	}
	d.shim = filepath.Join(filepath.Dir(d.program), "fulmen-shim")
	d.worker = d.live.Current().Paths.Worker
	if d.worker == "" {
		d.worker = d.options.Worker
	}
	if d.worker == "" {
		d.worker = filepath.Join(filepath.Dir(d.program), "fulmen-rank")
	}
	d.trust = lifecycle.Trust{Folders: d.folders, Clock: platform.Clock, Refused: func(detail string) {
		d.conditions.Raise(api.ReasonInsecurePermissions, detail)
	}}
	d.platform.Supervisor = d.trust.Supervisor(d.platform.Supervisor)
	return nil
}

// openState opens the database and the node's key.
func (d *base) openState(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openDeadline)
	defer cancel()
	var err error
	d.database, err = store.Open(ctx, d.folders.DatabaseFile(), store.Options{
		Buckets: storage.Buckets(), MaxBytes: int64(d.live.Current().Limits.DatabaseBytes), OnDamage: func(err error) { d.damaged <- err }, OnFull: d.changes.Wake,
	})
	if err != nil {
		return err
	}
	d.onClose(d.database.Close)
	d.records = storage.Records{DB: d.database}
	snapshot, err := d.platform.Facts.Snapshot(ctx, native.AreaIdentity)
	if err != nil {
		return fmt.Errorf("this machine cannot be identified: %w", err)
	}
	hardware := ""
	if snapshot.Identity != nil {
		hardware = snapshot.Identity.HardwareID
	}
	opened, err := cluster.OpenIdentity(d.folders.State, hardware, time.Now())
	if err != nil {
		return err
	}
	d.identity, d.moved = opened.Identity, opened.Moved
	roster, err := cluster.OpenRoster(d.records, d.identity, time.Now())
	if err != nil {
		return err
	}
	d.roster = node.NewHolder(roster, d.records)
	d.audit, err = audit.Open(audit.Config{Clock: d.platform.Clock, Store: d.records, Log: d.logs.Part("audit")})
	if err != nil {
		return err
	}
	d.onClose(d.audit.Close)
	return nil
}

// openLedger opens the ledger on what is stored.
func (d *base) openLedger(context.Context) error {
	d.behind = storage.NewBehind(d.records, d.identity.Node, d.platform.Clock, d.logs.Part("ledger"))
	d.onClose(d.behind.Close)
	d.over = health.NewQuota(d.platform.Clock, func() []ledger.Over { return d.ledger.OverQuota() }, d.nameOf,
		func(detail string) { d.conditions.Set(api.ReasonTooManyDocuments, detail) }, d.logs.Part("ledger"))
	d.onClose(d.over.Close)
	begun, err := d.records.Begun(d.started)
	if err != nil {
		return err
	}
	d.ledger, d.writer, err = ledger.Open(ledger.Options{
		TakesBack: storage.TakesBack(begun),
		Key:       d.identity.Key(), Cluster: d.roster.Cluster(), Counter: d.behind, Store: d.behind, Members: d.roster, OnOver: d.over.Changed,
	})
	if err != nil {
		return err
	}
	for _, problem := range d.ledger.Skipped() {
		d.logs.Part("ledger").Warn("a stored document was left out", "error", problem)
	}
	// What is left of a former cluster, and of this node's former key, goes.
	if err := d.ledger.ForgetNonMembers(d.roster.IsMember); err != nil {
		return err
	}
	d.conditions = health.New(d.owner("health", api.KindCondition), time.Now, d.logs.Part("health"))
	return nil
}

// awaitStart returns when the daemon is to run; see [lifecycle.AwaitStart].
func (d *base) awaitStart(ctx context.Context) error {
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	out := d.options.Log // a stopped daemon opens no file
	if out == nil {
		out = io.Discard
	}
	log := slog.New(slog.NewTextHandler(out, nil)).With("package", "server")
	c := lifecycle.AwaitConfig{
		Mark: lifecycle.Stopped(d.folders.StoppedFile()), Sockets: d.options.Sockets, Clock: clock,
		Server: server.Config{
			Log: log, Mode: d.folders.Mode, UID: uint32(os.Getuid()), Version: d.options.Version, InAdminGroup: server.AdminGroup(),
		},
		Ready: func() {
			lifecycle.NotifyReady(d.options.Supervisor, "stopped by a person; fulmen start starts it", log)
		}, // who connects is answered
		Watchdog: d.options.Supervisor.Watchdog(), Alive: d.options.Supervisor.Alive,
	}
	if a, ok := authorizes(d.options, d.folders.Mode, log); ok {
		c.Server.Authorizer = a
	}
	return lifecycle.AwaitStart(ctx, c)
}

// owner is the writer of a part.
func (d *base) owner(name string, kinds ...api.Kind) ledger.Documents {
	return ledger.Documents{Writer: d.writer.Owner(name, kinds...), Simulated: d.platform.Simulated}
}

// nameOf is what people call a node by its own document, where there is no view yet.
func (d *base) nameOf(id api.NodeID) string { return view.Name(d.ledger, id) }
