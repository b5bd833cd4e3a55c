package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/native"
)

// leastFree is the room on the state folder's disk below which it is worth a
// warning: logs and databases of a busy day fit.
const leastFree = 256 << 20

// doctor examines what only the daemon itself can: its folders as it sees them,
// its worker, the events that it hears, whose ports it can tell, and what the graph says
// of its cables.
func (d *daemon) doctor(ctx context.Context, _ *server.Caller, p api.DaemonDoctorParams) (api.DaemonDoctorResult, error) {
	if p.Hardware {
		checks, err := d.checkHardware(ctx)
		return api.DaemonDoctorResult{Checks: checks}, err
	}
	checks := []api.DoctorCheck{d.checkState(), d.checkWorker(), d.checkTrust(), d.checkEvents(), checkProcesses(d.platform.Processes)}
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

func (d *daemon) checkState() api.DoctorCheck {
	const check = "state"
	folder := d.folders.State
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

func (d *daemon) checkWorker() api.DoctorCheck {
	const check = "worker"
	status, err := os.Stat(d.worker)
	if err != nil || status.IsDir() || status.Mode().Perm()&0o111 == 0 {
		return answer(check, api.ReasonMLXMissing, "The MLX worker is not at "+d.worker+".")
	}
	return answer(check, "", "The MLX worker is there ("+d.worker+").")
}

// checkTrust says whether root may start the programs that lie here.
func (d *daemon) checkTrust() api.DoctorCheck {
	const check = "trust"
	if !d.folders.ChecksPrograms() {
		return answer(check, "", "Who can change the programs does not matter: "+d.trust.Unchecked()+".")
	}
	for _, program := range []string{d.program, d.worker} {
		if err := d.trust.Check(program); err != nil {
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
func (d *daemon) checkEvents() api.DoctorCheck {
	for _, area := range native.AllAreas() {
		if area == native.AreaSystem || !d.capabilities[native.FactsFeature(area)].Supported {
			continue // load and heat move only while somebody watches, and what is not told does not move
		}
		if capability := d.capabilities[native.HintsFeature(area)]; !capability.Supported {
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
