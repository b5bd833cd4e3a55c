package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Job writes all about one job: what it is, its phases with their times, its
// attempts, and the ranks of the current one.
func (v View) Job(w *Page, j api.Job, ranks []api.Rank, n Names) {
	var spec api.JobSpec
	_ = json.Unmarshal(j.Spec, &spec) // the daemon has checked it; what it lacks is left out
	table := text.NewTable()
	line := func(key, value string) {
		if value != "" {
			table.Row(key, value)
		}
	}
	line("job", join("  ", spec.Job.String(), spec.ShownName()))
	if j.Principal.Valid() {
		line("of", person(j.Principal, n))
	}
	line("phase", v.phaseLine(j))
	line("tries", tries(j, spec))
	why := explained(j.Reason, j.Message)
	if j.Phase == api.JobFailed {
		why = strings.TrimSuffix(Outcome(j, ranks, n).Message, ".")
	}
	line("because", why)
	line("waits for", j.WaitingFor)
	if info, _ := api.LookupReason(j.Reason); j.Reason == api.ReasonStalled && !j.Phase.Ended() {
		line("remedy", info.Remedy)
	}
	if j.ExitCode != nil {
		line("exit", strconv.Itoa(*j.ExitCode))
	}
	line("command", commandLine(spec.Program))
	line("model", join(", ", join(" at ", spec.Model.Model, spec.Model.Revision), string(spec.Sharding), choose(spec.FetchModel, "copied first where it is missing", "")))
	line("in", spec.Program.Directory)
	line("python", join(", ", spec.Program.Interpreter, spec.Program.Environment))
	line("home", n.Of(j.Home)+epoch(j.Epoch))
	line("labels", pairs(spec.Labels))
	line("ports", ports(spec.Publish, ranks))
	w.Table(table)
	if a := Current(j); a != nil && a.Plan != nil {
		w.Line("")
		v.planned(w, *a.Plan, n)
	}
	v.rankTable(w, j, ranks, n)
	v.attempts(w, j)
	v.phases(w, j)
}

// tries says how many attempts count already, of those that may; empty for a job of
// which none has failed.
func tries(j api.Job, spec api.JobSpec) string {
	counted, retried := "", ""
	if j.CountedAttempts > 0 {
		counted = fmt.Sprintf("%d of %d that count", j.CountedAttempts, cmp.Or(spec.MaxAttempts, api.DefaultCountedAttempts))
	}
	if j.Retried > 0 && spec.Retries > 0 {
		retried = fmt.Sprintf("%d of %d after all had joined", min(j.Retried, spec.Retries), spec.Retries)
	}
	return join(", ", counted, retried)
}

// phaseLine says where a job is, and for how long.
func (v View) phaseLine(j api.Job) string {
	out := string(j.Phase)
	switch since := j.PhaseSince.Time; {
	case since.IsZero():
	case j.Phase.Ended():
		out += " " + text.Ago(v.Now, since)
	default:
		out += " for " + text.Duration(max(0, v.Now.Sub(since)).Truncate(time.Millisecond))
	}
	if j.Attempt > 1 {
		out += fmt.Sprintf(", attempt %d", j.Attempt)
	}
	return out
}

// explained is a reason with its sentence, without the full stop.
func explained(reason api.Reason, message string) string {
	if message == "" && reason != "" {
		return because(reason)
	}
	return strings.TrimSuffix(message, ".")
}

func epoch(n uint64) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(", epoch %d", n)
}

// commandLine is a program as somebody would type it.
func commandLine(p api.Program) string {
	var words []string
	if p.Builtin != "" {
		words = append(words, string(p.Builtin))
	}
	for _, w := range p.Command {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?;&|<>()#~!{}[]") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func pairs(all map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, k+"="+all[k])
	}
	return strings.Join(out, " ")
}

// ports are the published ports, and whether the program listens on each.
func ports(all []api.Publish, ranks []api.Rank) string {
	var out []string
	for _, p := range all {
		word := strconv.Itoa(p.Port)
		if p.LAN {
			word = "lan:" + word
		}
		open := slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Rank == 0 && slices.Contains(r.Ports, p.Port) })
		out = append(out, word+choose(open, " (open)", " (nobody listens)"))
	}
	return strings.Join(out, ", ")
}

// Current is the attempt that a job is at; nil where there is none yet.
func Current(j api.Job) *api.Attempt {
	for i := range j.Attempts {
		if j.Attempts[i].Attempt == j.Attempt {
			return &j.Attempts[i]
		}
	}
	return nil
}

// rankTable lists the ranks of the current attempt.
func (v View) rankTable(w *Page, j api.Job, ranks []api.Rank, n Names) {
	if len(ranks) == 0 {
		return
	}
	table := text.NewTable("RANK", "NODE", "PHASE", "PID", "EXIT", "CPU", "MEMORY", "PRINTED").Less("PID", "CPU", "PRINTED", "MEMORY")
	for _, r := range ranks {
		cpu := given(r.Usage, func(u api.Usage) string {
			return text.Duration(time.Duration((u.UserS + u.SystemS) * float64(time.Second)))
		})
		memory := given(r.Usage, func(u api.Usage) string { return text.Bytes(u.MaxResidentBytes) })
		printed := given(r.Output, func(o api.OutputSize) string {
			dropped := ""
			if o.DroppedBytes > 0 {
				dropped = text.Bytes(o.DroppedBytes) + " not kept"
			}
			return join(", ", text.Bytes(o.OutBytes+o.ErrBytes), dropped)
		})
		phase := string(r.Phase)
		if r.Phase == api.RankPreparing && !r.PreparedAt.IsZero() {
			phase = "prepared, waiting for the others"
		}
		if r.Phase == api.RankHandshake && r.Handshake != nil {
			phase += " " + string(r.Handshake.State)
		}
		table.Row(strconv.Itoa(r.Rank), nodeOfRank(j, r.Rank, n), join(": ", phase, explained(r.Reason, r.Message)),
			some(r.PID, strconv.Itoa), exitWord(r.Exit), cpu, memory, printed)
	}
	w.Line("")
	w.Table(table)
}

// nodeOfRank is where a rank of the current attempt runs.
func nodeOfRank(j api.Job, rank int, n Names) string {
	if a := Current(j); a != nil && a.Plan != nil {
		for _, p := range a.Plan.Ranks {
			if p.Rank == rank {
				return n.Of(p.Node)
			}
		}
	}
	return none
}

// attempts lists what came of each try.
func (v View) attempts(w *Page, j api.Job) {
	if len(j.Attempts) == 0 {
		return
	}
	table := text.NewTable("ATTEMPT", "STARTED", "TOOK", "EXIT", "WHY IT ENDED")
	for first, a := range alikes(j.Attempts) {
		started, took := none, none
		if !a.StartedAt.IsZero() {
			started = clock(a.StartedAt)
		}
		if !a.StartedAt.IsZero() && !a.EndedAt.IsZero() {
			took = text.Duration(a.EndedAt.Sub(a.StartedAt.Time))
		}
		why := explained(a.Reason, a.Message)
		if a.FirstFailed != nil && why != "" && !namesRank(why, *a.FirstFailed) {
			why = fmt.Sprintf("rank %d: %s", *a.FirstFailed, why)
		}
		switch {
		case a.Replanned:
			why = join(" ", why, "(nothing was started; planned again at once)")
		case a.Uncounted:
			why = join(" ", why, "(not counted)")
		}
		number := strconv.Itoa(a.Attempt)
		if times := a.Attempt - first.Attempt + 1; times > 1 {
			number = strconv.Itoa(first.Attempt) + "-" + number
			why = join(", ", orNone(why), strconv.Itoa(times)+" times")
		}
		table.Row(number, started, took, given(a.ExitCode, strconv.Itoa), orNone(why))
	}
	w.Line("")
	w.Table(table)
}

// alikes are the attempts, of several that failed alike in a row the first and the last.
func alikes(all []api.Attempt) iter.Seq2[api.Attempt, api.Attempt] {
	return func(yield func(first, last api.Attempt) bool) {
		for i := 0; i < len(all); i++ {
			first := all[i]
			for i+1 < len(all) && failedAlike(first, all[i+1]) {
				i++
			}
			if !yield(first, all[i]) {
				return
			}
		}
	}
}

// failedAlike reports whether an attempt says of its end what the one before says: the
// last of several stands for all.
func failedAlike(a, b api.Attempt) bool {
	return a.Reason != "" && a.Reason == b.Reason && a.Message == b.Message && a.Uncounted == b.Uncounted && a.Replanned == b.Replanned &&
		reflect.DeepEqual(a.ExitCode, b.ExitCode) && reflect.DeepEqual(a.FirstFailed, b.FirstFailed)
}

// phases lists where the job was, when and how long.
func (v View) phases(w *Page, j api.Job) {
	if len(j.Phases) == 0 {
		return
	}
	table := text.NewTable("PHASE", "ATTEMPT", "AT", "TOOK")
	for i, p := range j.Phases {
		took := none
		switch {
		case i+1 < len(j.Phases):
			took = text.Duration(j.Phases[i+1].At.Sub(p.At.Time))
		case !p.Phase.Ended():
			took = text.Duration(max(0, v.Now.Sub(p.At.Time)).Truncate(time.Millisecond)) + " so far"
		}
		table.Row(string(p.Phase), some(p.Attempt, strconv.Itoa), clock(p.At), took)
	}
	w.Line("")
	w.Table(table)
}

// clock is a time of the day, to the millisecond.
func clock(t api.Time) string { return t.UTC().Format("15:04:05.000") }

// exitWord is how a process ended: 0, 42, SIGKILL.
func exitWord(e *api.Exit) string {
	switch {
	case e == nil:
		return none
	case e.OutOfMemory:
		return "out of memory"
	case e.Signal != 0:
		return signalName(e.Signal)
	}
	return given(e.Code, strconv.Itoa)
}

// Jobs writes the table of jobs, the newest first.
func (v View) Jobs(w *Page, list []api.JobSummary, all bool, n Names) {
	if len(list) == 0 {
		w.Line(choose(all, "There are no jobs. To run one: fulmen run -- COMMAND", "No job is waiting or running. To see ended ones: fulmen jobs --all"))
		return
	}
	table := v.table("JOB", "NAME", "OF", "STATE", "RANKS", "NODES", "SUBMITTED", "+BACKEND", "+MEMORY", "+ATTEMPT")
	table.Less("OF", "RANKS", "SUBMITTED")
	for _, j := range list {
		table.Row(j.Job.String(), j.Name, person(j.Principal, n)+choose(j.Mine, " *", ""), jobPhase(j), some(j.Ranks, strconv.Itoa), orNone(n.List(j.Nodes)),
			text.Ago(v.Now, j.SubmittedAt.Time), orNone(string(j.Backend)), some(j.MemoryBytes, text.Bytes), strconv.Itoa(j.Attempt))
	}
	w.Table(table)
}

// list names several nodes.
func (n Names) List(nodes []api.NodeID) string {
	var out []string
	for _, id := range nodes {
		out = append(out, n.Of(id))
	}
	return strings.Join(out, ", ")
}

// jobPhase is where a job is, in few words.
func jobPhase(j api.JobSummary) string {
	out := string(j.Phase)
	if j.Phase == api.JobHandshake && j.Ranks > 0 {
		out = fmt.Sprintf("%s %d of %d", out, j.Joined, j.Ranks)
	}
	if j.ExitCode != nil && *j.ExitCode != 0 {
		out += fmt.Sprintf(" (%d)", *j.ExitCode)
	}
	if j.LinePosition > 0 {
		out += fmt.Sprintf(" (%d in line)", j.LinePosition)
	}
	if j.Phase == api.JobSucceeded || j.Phase == api.JobStopped && j.Reason == api.ReasonStoppedByPerson {
		return out
	}
	return join(": ", out, explained(j.Reason, j.Message))
}

// SilentCables writes for how long the ranks of a job have sent nothing over RDMA, which one
// that did ends for all. It writes nothing of a job that is not over RDMA, or not silent.
func (v View) SilentCables(w *Page, ranks []api.Document) {
	var last time.Time
	for _, d := range ranks {
		var r api.Rank
		why := d.Unknown["silent_since"]
		switch {
		case d.Decode(&r) != nil || r.Phase != api.RankRunning:
			return
		case why != "":
			w.Line("")
			w.Line(fmt.Sprintf("How long its cables have been silent is unknown: %s.", because(why)))
			return
		case r.SilentSince.IsZero():
			return
		case r.SilentSince.After(last):
			last = r.SilentSince.Time
		}
	}
	if !last.IsZero() {
		w.Line("")
		w.Line(fmt.Sprintf("Its cables have been silent for %s.", text.Duration(v.Now.Sub(last))))
	}
}

// Published writes where the ports of a job are open on this node, and the key
// that requests from the network have to bear. It writes nothing where none is.
func (v View) Published(w *Page, all []api.PublishedPort) {
	if len(all) == 0 {
		return
	}
	table := text.NewTable("PORT", "OPEN AT", "REQUESTS NEED")
	for _, p := range all {
		table.Row(choose(p.LAN, "lan:", "")+fmt.Sprint(p.Port), openAt(p), choose(p.Key != "", bearer(p), none))
	}
	w.Line("")
	w.Table(table)
}

// PublishedLines says the same in sentences, one a port.
func (v View) PublishedLines(all []api.PublishedPort) []string {
	var lines []string
	for _, p := range all {
		line := fmt.Sprintf("port %d is open at %s", p.Port, openAt(p))
		if p.Problem != nil {
			line = fmt.Sprintf("port %d is %s", p.Port, openAt(p))
		} else if p.Key != "" {
			line += "; requests need the header " + bearer(p)
		}
		lines = append(lines, line)
	}
	return lines
}

func bearer(p api.PublishedPort) string { return "Authorization: Bearer " + p.Key }

// openAt is where a port is open, or why it is not.
func openAt(p api.PublishedPort) string {
	at := ""
	for _, a := range p.Addresses {
		at = join(", ", at, a.String())
	}
	switch {
	case p.Problem != nil:
		return "not open: " + text.Clean(p.Problem.Message)
	case at == "":
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(p.Port)).String() + " (rank 0's own)"
	}
	return at
}
