package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// leastFree is the room on the state folder's disk below which it is worth a
// warning: logs and databases of a busy day fit.
const leastFree = 256 << 20

// Programs decides which programs are started; lifecycle.Trust does.
type Programs interface {
	// Check is why a program is not started; nil where it is.
	Check(program string) error
	// Unchecked is why none is examined; empty where they are.
	Unchecked() string
}

// Facts compares what is published with what the machine says now; facts.Owner does.
type Facts interface {
	// Compare gives a line for each document that was published.
	Compare(ctx context.Context, published []api.Document) ([]native.Comparison, error)
}

// Doctor examines what only the daemon itself can: its folders as it sees them, its
// worker, the events that it hears, whose ports it can tell, and what the graph says of
// its cables.
type Doctor struct {
	Ledger *ledger.Ledger
	// State is the state folder.
	State string
	// Program is this one, Shim what holds ranks, and Worker MLX's.
	Program, Shim, Worker string
	Programs              Programs
	Facts                 Facts
	Machine               native.Facts
	Capabilities          native.Capabilities
	Processes             native.Processes
	// Graph is that of the cluster as it is now, and Name what people call a node.
	Graph func() api.LinkListResult
	Name  func(api.NodeID) string
	// Second asks a second source of the system about the ports; nil where there is
	// none, as on Linux and on simulated Macs.
	Second CrossCheck
	Log    *slog.Logger
}

// Examine is daemon.doctor.
func (d Doctor) Examine(ctx context.Context, p api.DaemonDoctorParams) (api.DaemonDoctorResult, error) {
	if p.Hardware {
		checks, err := d.checkHardware(ctx)
		return api.DaemonDoctorResult{Checks: checks}, err
	}
	checks := []api.DoctorCheck{d.checkState(), d.checkWorker(), d.checkTrust(), d.checkEvents(), checkProcesses(d.Processes)}
	return api.DaemonDoctorResult{Checks: append(checks, d.checkPorts(ctx)...)}, nil
}

// answer makes a check of a reason, or a good one where there is none.
func answer(check string, reason api.Reason, text string) api.DoctorCheck {
	result := api.DoctorCheck{Check: check, Answer: api.AnswerYes, Text: text}
	if reason != "" {
		info, _ := api.LookupReason(reason)
		result.Answer, result.Reason, result.Remedy = api.AnswerNo, reason, info.Remedy
	}
	return result
}

func (d Doctor) checkState() api.DoctorCheck {
	const check = "state"
	folder := d.State
	if err := unix.Access(folder, unix.W_OK); err != nil {
		return answer(check, api.ReasonStateReadOnly, fmt.Sprintf("The state folder %s cannot be written%s.", folder, native.Said(err)))
	}
	free, err := native.FreeBytes(folder)
	if err != nil {
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: fmt.Sprintf("The disk of %s cannot be examined%s.", folder, native.Said(err))}
	}
	if free < leastFree {
		return answer(check, api.ReasonDiskFull, fmt.Sprintf("The disk of %s has %d MB left.", folder, free/1e6))
	}
	return answer(check, "", "The state folder can be written ("+folder+").")
}

func (d Doctor) checkWorker() api.DoctorCheck {
	const check = "worker"
	status, err := os.Stat(d.Worker)
	if err != nil || status.IsDir() || status.Mode().Perm()&0o111 == 0 {
		return answer(check, api.ReasonMLXMissing, "The MLX worker is not at "+d.Worker+".")
	}
	return answer(check, "", "The MLX worker is there ("+d.Worker+").")
}

// checkTrust says whether root may start the programs that lie here.
func (d Doctor) checkTrust() api.DoctorCheck {
	const check = "trust"
	if why := d.Programs.Unchecked(); why != "" {
		return answer(check, "", "Who can change the programs does not matter: "+why+".")
	}
	for _, program := range []string{d.Program, d.Shim, d.Worker} {
		if err := d.Programs.Check(program); err != nil {
			refusal := api.AsError(err)
			no := answer(check, refusal.Data.Reason, refusal.Message)
			no.Remedy = refusal.Data.Remedy
			return no
		}
	}
	return answer(check, "", "Nobody but root can change the programs that root starts.")
}

// checkEvents says which facts move without an event: they are read when
// somebody looks.
func (d Doctor) checkEvents() api.DoctorCheck {
	for _, area := range native.AllAreas() {
		if area == native.AreaSystem || !d.Capabilities[native.FactsFeature(area)].Supported {
			continue // load and heat move only while somebody watches, and what is not told does not move
		}
		if capability := d.Capabilities[native.HintsFeature(area)]; !capability.Supported {
			return api.DoctorCheck{
				Check: "events", Answer: api.AnswerUnknown, Reason: api.Reason(capability.Reason.Key()),
				Text: "This system announces no changes of " + string(area) + "; it is read when somebody looks.",
			}
		}
	}
	return answer("events", "", "The system announces what changes: name, memory pressure, network, and what is plugged in where it tells that.")
}

// checkProcesses says whether the system tells which process listens at a port:
// without that no JACCL job starts, and no port of a job is published.
func checkProcesses(processes native.Processes) api.DoctorCheck {
	const check = "processes"
	_, err := processes.Listens(os.Getpid(), 1, native.Listening{}) // the answer to any question will do
	unsupported, is := errors.AsType[*native.UnsupportedError](err)
	switch {
	case is:
		return answer(check, api.Reason(unsupported.Reason.Key()),
			fmt.Sprintf("Which program listens at a port cannot be told (%s): no JACCL job starts here, and no port of a job is published.", unsupported.Reason))
	case err != nil:
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: "Which program listens at a port could not be read" + native.Said(err) + "."}
	}
	return answer(check, "", "The system tells which program listens at a port, which JACCL jobs need.")
}
