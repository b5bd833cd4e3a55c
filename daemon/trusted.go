package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// trusted refuses a program that root is about to start and others could change. It
// is asked right before every start, of this program (every rank's shim) and of the
// worker: what was right when the daemon started may have been changed since.
func (d *daemon) trusted(program string) error {
	err := d.folders.CheckProgram(program)
	if err != nil && d.canRaise.Load() {
		refusal := api.AsError(err)
		d.raise(api.ReasonInsecurePermissions, refusal.Message+" "+refusal.Data.Remedy)
	}
	return err
}

// checkPrograms raises the condition at the start, where somebody can still do
// something about it before a job fails. The daemon itself goes on: it is what says
// so. Where nothing is checked, the log has it.
func (d *daemon) checkPrograms() {
	log := d.logs.part("daemon")
	if !d.folders.ChecksPrograms() {
		log.Info("programs are started without looking who can change them", "because", d.unchecked())
		return
	}
	for _, program := range []string{d.program, d.worker} {
		if err := d.trusted(program); err != nil {
			log.Error("a program will not be started", "error", err, "remedy", api.AsError(err).Data.Remedy)
		}
	}
}

// unchecked is why programs are not examined.
func (d *daemon) unchecked() string {
	if d.folders.IsTrial {
		return api.EnvHome + " is set, as for tests and trials"
	}
	return "the daemon does not run as root"
}

// launch runs a worker, if root may.
func (d *daemon) launch(ctx context.Context, c proc.Command) proc.Record {
	c.Check = d.trusted
	return proc.Run(ctx, d.platform.Clock, c)
}

// trusting is the system's supervisor, for programs that root may start.
type trusting struct {
	native.Supervisor
	check func(program string) error
}

// Start starts a unit.
func (t trusting) Start(ctx context.Context, unit native.Unit) error {
	if err := t.check(unit.Program); err != nil {
		return err
	}
	return t.Supervisor.Start(ctx, unit)
}
