package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/systemprofiler"
)

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
		var lines []string
		for _, d := range systemprofiler.CrossCheck(facts, other.Thunderbolt) {
			lines = append(lines, d.String())
		}
		return lines, nil
	}
}

// checkPorts examines Thunderbolt: what is known of it, and what the graph says
// of the cables at this machine.
func (d Doctor) checkPorts(ctx context.Context) []api.DoctorCheck {
	checks := []api.DoctorCheck{d.checkThunderbolt()}
	checks = append(checks, cableChecks(d.Ledger.Node(), d.Graph(), d.Name)...)
	if check, is := d.checkSecondSource(ctx); is {
		checks = append(checks, check)
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
			Text: "What is plugged in is as it was last told: the system tells nothing of Thunderbolt now."}
	}
	if ports > 0 {
		return answer(check, "", fmt.Sprintf("The Thunderbolt ports are known (%d).", ports))
	}
	if capability := d.Capabilities[native.FactsFeature(native.AreaThunderbolt)]; !capability.Supported && capability.Reason != "" {
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.Reason(capability.Reason.Key()),
			Text: "The system tells nothing of Thunderbolt ports."}
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
		checks = append(checks, answer("cable", "", fmt.Sprintf("Every cable is as fast as its ports, as far as they tell (%d).", cables)))
	}
	return checks
}

// cableName is what people call a cable: its ends, or the one that is known.
func cableName(cable api.Cable, name func(api.NodeID) string) string {
	var ends []string
	for _, end := range cable.Ends {
		ends = append(ends, name(end.End.Node)+":"+end.End.Receptacle.String())
	}
	if len(ends) == 1 && cable.PeerName != "" {
		ends = append(ends, cable.PeerName)
	}
	return strings.Join(ends, " - ")
}

// checkSecondSource compares the facts with the system's other source; false
// where there is none, as on Linux and on simulated Macs.
func (d Doctor) checkSecondSource(ctx context.Context) (api.DoctorCheck, bool) {
	const check = "system_profiler"
	if d.Second == nil {
		return api.DoctorCheck{}, false
	}
	unknown := func(err error) (api.DoctorCheck, bool) {
		d.Log.Warn("the ports could not be compared", "error", err)
		return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: "system_profiler could not be asked about the ports."}, true
	}
	snapshot, err := d.Machine.Snapshot(ctx, native.AreaThunderbolt)
	if err != nil || snapshot.Thunderbolt == nil {
		return unknown(err)
	}
	differences, err := d.Second(ctx, *snapshot.Thunderbolt)
	if err != nil {
		return unknown(err)
	}
	if len(differences) > 0 {
		return answer(check, api.ReasonSourcesDisagree, "system_profiler tells otherwise: "+strings.Join(differences, "; ")+"."), true
	}
	return answer(check, "", "system_profiler says the same of the ports."), true
}
