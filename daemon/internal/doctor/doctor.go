package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/systemprofiler"
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
		return answer(check, api.ReasonStateReadOnly, fmt.Sprintf("The state folder %s cannot be written%s.", folder, native.ErrnoSuffix(err)))
	}
	free, err := native.FreeBytes(folder)
	if err != nil {
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: fmt.Sprintf("The disk of %s cannot be examined%s.", folder, native.ErrnoSuffix(err))}
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
		return answer(check, "", "It does not matter who can change the programs: "+why+".")
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
				Text: "This system does not announce changes of " + string(area) + "; it is read when somebody looks.",
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
			fmt.Sprintf("Fulmen cannot tell which program listens at a port (%s), so no JACCL job starts here and no port of a job is published.", unsupported.Reason))
	case err != nil:
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: "Which program listens at a port could not be read" + native.ErrnoSuffix(err) + "."}
	}
	return answer(check, "", "Fulmen can tell which program listens at a port, as JACCL jobs need.")
}

// checkHardware holds each fact of this machine's hardware against what the system says of
// it now, and against a second source where the system has one: a check for each fact.
func (d Doctor) checkHardware(ctx context.Context) ([]api.DoctorCheck, error) {
	var published []api.Document
	for _, record := range d.Ledger.List(ledger.Filter{Nodes: []api.NodeID{d.Ledger.Node()}}) {
		published = append(published, record.Document())
	}
	rows, err := d.Facts.Compare(ctx, published)
	if err != nil {
		return nil, err
	}
	if second, has := d.Machine.(native.Comparer); has {
		rows = append(rows, second.Compare(ctx)...)
	}
	checks := make([]api.DoctorCheck, len(rows))
	for i, row := range rows {
		checks[i] = hardwareCheck(row)
	}
	return checks, nil
}

// hardwareCheck is a comparison as a check.
func hardwareCheck(c native.Comparison) api.DoctorCheck {
	check := api.DoctorCheck{Check: "hardware"}
	switch {
	case !c.Known():
		check.Answer, check.Reason = api.AnswerUnknown, api.Reason(c.Why.Key())
		silent := c.Sources[max(0, slices.Index(c.Reported[:], ""))]
		check.Text = fmt.Sprintf("%s: %s does not say", c.Fact, silent)
		if c.Why != "" {
			check.Text += " (" + string(c.Why) + ")"
		}
		check.Text += "."
	case c.Same:
		check.Answer, check.Text = api.AnswerYes, fmt.Sprintf("%s: %s.", c.Fact, c.Reported[0])
	default:
		check.Answer, check.Reason = api.AnswerNo, api.ReasonSourcesDisagree
		check.Text = fmt.Sprintf("%s: %s according to %s, %s according to %s.", c.Fact, c.Reported[0], c.Sources[0], c.Reported[1], c.Sources[1])
	}
	return check
}

// CrossCheck asks a second source of the system about the ports, and lists where
// it and the facts disagree. It may start a program: only a person asks for it.
type CrossCheck func(ctx context.Context, facts native.Thunderbolt) ([]string, error)

// AskSystemProfiler is the second source of macOS.
func AskSystemProfiler(clock native.Clock) CrossCheck {
	return func(ctx context.Context, facts native.Thunderbolt) ([]string, error) {
		other, err := systemprofiler.Run(ctx, clock)
		if err != nil {
			return nil, err
		}
		return systemprofiler.CrossCheck(facts, other.Thunderbolt), nil
	}
}

// checkPorts examines Thunderbolt: what is known of it, and what the graph says
// of the cables at this machine.
func (d Doctor) checkPorts(ctx context.Context) []api.DoctorCheck {
	checks := append([]api.DoctorCheck{d.checkThunderbolt()}, cableChecks(d.Ledger.Node(), d.Graph(), d.Name)...)
	if d.Second != nil {
		checks = append(checks, d.checkSecondSource(ctx))
	}
	return checks
}

// checkThunderbolt says whether the ports are known.
func (d Doctor) checkThunderbolt() api.DoctorCheck {
	const check = "thunderbolt"
	ports, silent := 0, api.Reason("")
	for _, record := range d.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindThunderbolt}, Nodes: []api.NodeID{d.Ledger.Node()}}) {
		document := record.Document()
		ports++
		silent = document.Unknown[string(api.KindThunderbolt)]
	}
	if silent != "" {
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: silent,
			Text: "What is plugged in is shown as last known: the system reports nothing about Thunderbolt now."}
	}
	if ports > 0 {
		return answer(check, "", fmt.Sprintf("The Thunderbolt ports are known (%d).", ports))
	}
	if capability := d.Capabilities[native.FactsFeature(native.AreaThunderbolt)]; !capability.Supported && capability.Reason != "" {
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.Reason(capability.Reason.Key()),
			Text: "The system does not report its Thunderbolt ports."}
	}
	return answer(check, "", "This machine has no Thunderbolt port.")
}

// cableChecks examines the cables at a node, for what no condition says: one check
// for each that is not as it should be, and one for all where none is.
func cableChecks(node api.NodeID, graph api.LinkListResult, name func(api.NodeID) string) []api.DoctorCheck {
	var checks []api.DoctorCheck
	cables, slow := 0, 0
	for _, cable := range graph.Cables {
		here := slices.IndexFunc(cable.Ends, func(e api.CableEnd) bool { return e.End.Node == node })
		if here < 0 {
			continue
		}
		cables++
		at := cableName(cable, name)
		for _, reason := range cable.Reasons {
			switch info, _ := api.LookupReason(reason); reason {
			case api.ReasonLinkBelowPorts, api.ReasonLinkDown:
				slow++
			case api.ReasonHubBetween:
				checks = append(checks, answer("cable", reason, at+": "+info.Text))
			case api.ReasonPeerUnknown: // may be meant so
				checks = append(checks, api.DoctorCheck{Check: "cable", Answer: api.AnswerUnknown, Reason: reason, Text: at + ": " + info.Text, Remedy: info.Remedy})
			}
		}
	}
	if len(checks)+slow == 0 && cables > 0 {
		checks = append(checks, answer("cable", "", fmt.Sprintf("Every cable is as fast as its ports, as far as is known (%d).", cables)))
	}
	return checks
}

// cableName is what people call a cable: its ends, or the one that is known.
func cableName(cable api.Cable, name func(api.NodeID) string) string {
	var ends []string
	for _, end := range cable.Ends {
		ends = append(ends, name(end.End.Node)+":"+end.End.PortNumber.String())
	}
	if len(ends) == 1 && cable.PeerName != "" {
		ends = append(ends, cable.PeerName)
	}
	return strings.Join(ends, " - ")
}

// checkSecondSource compares the facts with the system's other source.
func (d Doctor) checkSecondSource(ctx context.Context) api.DoctorCheck {
	const check = "system_profiler"
	var differences []string
	snapshot, err := d.Machine.Snapshot(ctx, native.AreaThunderbolt)
	isRead := err == nil && snapshot.Thunderbolt != nil
	if isRead {
		differences, err = d.Second(ctx, *snapshot.Thunderbolt)
	}
	switch {
	case !isRead || err != nil:
		d.Log.Warn("the ports could not be compared", "error", err)
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: "system_profiler could not be asked about the ports."}
	case len(differences) > 0:
		return answer(check, api.ReasonSourcesDisagree, "system_profiler says otherwise: "+strings.Join(differences, "; ")+".")
	}
	return answer(check, "", "system_profiler says the same of the ports.")
}
