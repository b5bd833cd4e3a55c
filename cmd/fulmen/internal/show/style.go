package show

import (
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// meanings are the words whose color says how something is; those that ask for nothing and
// promise nothing have none.
var meanings = map[string]text.Style{
	string(api.LivenessAlive): text.Green, string(api.LivenessSuspect): text.Yellow, string(api.LivenessRestarting): text.Yellow,
	string(api.LivenessAsleep): text.Yellow, string(api.LivenessUnreachable): text.Red,
	string(api.VerdictGood): text.Green, string(api.VerdictSlow): text.Yellow, string(api.VerdictBad): text.Red, string(api.VerdictDown): text.Red,
	string(api.RDMAReady): text.Green, rdmaVerdict(api.RDMANeedsPerson): text.Yellow, rdmaVerdict(api.RDMACanEnable): text.Yellow,
	string(api.JobRunning): text.Green, string(api.JobSucceeded): text.Green, string(api.JobBackoff): text.Yellow,
	string(api.JobHomeLost): text.Red, string(api.JobFailed): text.Red, string(api.RankLost): text.Red,
	string(api.SeverityWarning): text.Yellow, string(api.SeverityError): text.Red,
	"not ready": text.Yellow, "ok": text.Green, "wrong": text.Red,
}

// Style is how a cell stands on a terminal: what says how something is has the color of its
// first words, below a heading for that or alone in a cell.
func Style(heading, cell string) text.Style {
	column, _, _ := strings.Cut(heading, " (")
	if heading == "" {
		return meanings[cell]
	}
	if !slices.Contains([]string{"STATE", "VERDICT", "PHASE", "RDMA"}, column) {
		return text.Plain
	}
	if column == "STATE" && strings.HasPrefix(cell, string(api.JobRunning)+": ") {
		return text.Yellow // and something has to be said of it
	}
	for words, style := range meanings {
		if rest, ok := strings.CutPrefix(cell, words); ok && (rest == "" || strings.ContainsAny(rest[:1], " :,;")) {
			return style
		}
	}
	return text.Plain
}
