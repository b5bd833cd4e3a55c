package lifecycle

import (
	"context"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// Trust decides which programs are started.
type Trust struct {
	Folders home.Folders
	Clock   native.Clock
	// Refused hears why one is not.
	Refused func(detail string)
}

// Check refuses a program that root is about to start and others could change. It
// is asked right before every start, of fulmen-shim and of the worker: what was right when the daemon started may have been changed since.
func (t Trust) Check(program string) error {
	err := t.Folders.CheckProgram(program)
	if err != nil {
		refusal := api.AsError(err)
		t.Refused(refusal.Message + " " + refusal.Data.Remedy)
	}
	return err
}

// Look looks at programs at the start, where somebody can still do something about
// it before a job fails. The daemon itself goes on: it is what says so. Where nothing
// is checked, the log has it.
func (t Trust) Look(log *slog.Logger, programs ...string) {
	if why := t.Unchecked(); why != "" {
		log.Info("programs are started without looking who can change them", "because", why)
		return
	}
	for _, program := range programs {
		if err := t.Check(program); err != nil {
			log.Error("a program will not be started", "error", err, "remedy", api.AsError(err).Data.Remedy)
		}
	}
}

// Unchecked is why programs are not examined; empty where they are.
func (t Trust) Unchecked() string {
	if t.Folders.ChecksPrograms() {
		return ""
	}
	if t.Folders.IsTrial {
		return api.EnvHome + " is set, as for tests and trials"
	}
	return "the daemon does not run as root"
}

// Launch runs a worker, if root may.
func (t Trust) Launch(ctx context.Context, c proc.Command) proc.Record {
	c.Check = t.Check
	return proc.Run(ctx, t.Clock, c)
}

// Supervisor is the system's supervisor, for programs that root may start.
func (t Trust) Supervisor(below native.Supervisor) native.Supervisor { return trusting{below, t.Check} }

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
